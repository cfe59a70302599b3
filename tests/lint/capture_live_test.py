#!/usr/bin/env python3
"""Pictures of terminals show what was on the screen, and at the right time."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "tools"))
from capture_live import Screen, screens_of, svg_of, whole_frames  # noqa: E402


def screen(text):
    made = Screen()
    made.feed(text)
    return made


class Pictures(unittest.TestCase):
    def shown(self, picture, frame, count):
        """The texts that are visible in a frame, by the percentages of the animation."""
        hidden = set()
        for name, steps in re.findall(r"@keyframes (\S+) \{ (.*?\}) \}", picture):
            now = "visible"
            for at, state in re.findall(r"([\d.]+)% \{ visibility: (\w+) \}", steps):
                if float(at) <= 100 * (frame + 0.5) / count:
                    now = state
            if now == "hidden":
                hidden.add(name)
        picture = re.sub(r'<g class="(\S+?)(?: early)?">\n(.*?)</g>', lambda g: "" if g[1] in hidden else g[2], picture,
                         flags=re.DOTALL)
        return re.findall(r"<text[^>]*>([^<]*)<", picture)

    def test_one_screen_is_a_still_picture(self):
        picture = svg_of([screen("a\r\n\x1b[32mb & c\x1b[0m")], 20)
        self.assertNotIn("<style>", picture)
        self.assertEqual(self.shown(picture, 0, 1), ["a", "b &amp; c"])

    def test_each_frame_shows_its_own_screen(self):
        texts = ["head\r\none", "head\r\ntwo", "head\r\ntwo\r\nmore", "head\r\none"]
        picture = svg_of([screen(text) for text in texts], 20, 0.5)
        self.assertIn("2s step-end infinite", picture)
        for frame, text in enumerate(texts):
            self.assertEqual(self.shown(picture, frame, len(texts)), text.split("\r\n"))
        self.assertEqual(picture.count(">head<"), 1)

    def test_who_wants_no_motion_sees_the_last_screen(self):
        picture = svg_of([screen("one"), screen("two")], 20, 0.5)
        self.assertIn("prefers-reduced-motion", picture)
        self.assertRegex(picture, r'early">\n<text[^>]*>one<')
        self.assertRegex(picture, r'"f1-2">\n<text[^>]*>two<')

    def test_a_line_that_is_too_long_is_wrapped(self):
        narrow = Screen(4)
        narrow.feed("abcdef\r\ngh")
        self.assertEqual(narrow.text(), "abcd\nef\ngh\n")

    def test_half_a_frame_is_left_out_and_what_follows_the_last_one_is_not(self):
        frame = "\x1b[?2026hframe\r\n\x1b[?2026l"
        self.assertEqual(whole_frames(frame + "\x1b[?2026hhal"), frame)
        self.assertEqual(whole_frames(frame + "the result"), frame + "the result")

    def test_a_command_is_followed_to_its_end(self):
        screens = screens_of(["sh", "-c", "echo first; sleep 0.5; echo second"], 40, 10, 30, 0.2)
        self.assertEqual(screens[-1].text(), "first\nsecond\n")
        self.assertGreater(len(screens), 1)


if __name__ == "__main__":
    unittest.main()
