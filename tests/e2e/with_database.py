"""Tests of the program with one private database for all tests of a class."""

import os
import shutil
import tempfile
import unittest

from harness import BAPI, EndToEnd
from private_database import PrivateDatabase, missing


@unittest.skipIf(missing(), missing())
class WithDatabase(EndToEnd):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="bapi-e2e-")
        cls.database = PrivateDatabase(os.path.abspath(BAPI), cls.place)
        cls.call = cls.database.bapi
        cls.url = cls.database.url

    @classmethod
    def tearDownClass(cls):
        cls.database.stop()
        shutil.rmtree(cls.place, ignore_errors=True)

    def setUp(self):
        super().setUp()
        started = self.database.started
        if "built without PostgreSQL" in started.stderr:
            self.skipTest(started.stderr)
        self.assertEqual(started.returncode, 0, started.stderr)
