#include "bapi/store/wish_box.h"

#include "bapi/study/codec.h"

namespace bapi {
namespace {}  // namespace

WishBox::WishBox(const StudyDir& dir)
    : letters_(std::make_unique<FolderMailbox>(dir.root() / "wishes", kLargestLetter)) {}

void WishBox::put(ConfigEnqueued wish, double now) const {
  wish.id = Mailbox::new_id(now);
  letters_->put(wish.id, encode(Event(wish)));
}

std::vector<ConfigEnqueued> WishBox::waiting(const std::set<std::string>& recorded) const {
  std::vector<ConfigEnqueued> wishes;
  for (const std::string& id : letters_->ids()) {
    if (recorded.contains(id)) continue;
    const std::optional<std::string> text = letters_->read(id);
    if (!text) continue;
    try {
      const Event event = decode_event(*text);
      const auto* wish = std::get_if<ConfigEnqueued>(&event);
      if (wish && wish->id == id) wishes.push_back(*wish);
    } catch (const InvalidInput&) {
    }
  }
  return wishes;
}

void WishBox::clear(const std::set<std::string>& recorded) const {
  for (const std::string& id : letters_->ids()) {
    if (recorded.contains(id)) letters_->remove(id);
  }
}

}  // namespace bapi
