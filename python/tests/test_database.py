"""Studies in PostgreSQL, read by the package."""

import os
import shutil
import tempfile

import pytest
from private_database import PrivateDatabase, missing

import bapi


@pytest.fixture(scope="module")
def database():
    if missing():
        pytest.skip(missing())
    place = tempfile.mkdtemp(prefix="bapi-python-")  # where another user than root may go
    made = PrivateDatabase(os.environ["BAPI"], place)
    try:
        if "built without PostgreSQL" in made.started.stderr:
            pytest.skip(made.started.stderr)
        assert made.started.returncode == 0, made.started.stderr
        made.study = made.copy_study()
        yield made
    finally:
        made.stop()
        shutil.rmtree(place, ignore_errors=True)


def test_a_study_in_a_database_reads_as_the_one_in_its_directory(database):
    there = bapi.open_study(database.study)
    here = bapi.open_study(os.path.join(database.place, "here.bapi"))
    assert there.name == here.name and there.state == here.state
    assert there.best.value == here.best.value
    assert str(there.ledger()) == str(here.ledger())
    assert there.path is None


def test_a_raised_budget_is_seen_by_who_looks(database):
    study = bapi.open_study(database.study)
    before = study.status()["budget"]
    database.sql("""WITH s AS (UPDATE bapi.study SET last_seq = last_seq + 1 RETURNING id, last_seq)
        INSERT INTO bapi.event (study, seq, at, kind, value, payload) SELECT id, last_seq, now(), 'budget_changed', 1e6,
        '{"kind": "budget_changed", "version": 1, "total": 1000000.0}' FROM s""")
    after = study.status()["budget"]
    assert before != after


def test_mistakes_are_errors_of_the_package(database):
    with pytest.raises(bapi.StoreError, match="did you mean there"):
        bapi.open_study(database.url + "#thre")
    with pytest.raises(bapi.InvalidInput, match="PGPASSFILE"):
        bapi.open_study("postgresql://ann:secret@db/tuning#mlp")
