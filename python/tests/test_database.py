"""Studies in PostgreSQL, read by the package."""

import os

import pytest

import bapi


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
