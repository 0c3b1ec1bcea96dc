"""What is withheld when it is published reaches no slave, and disturbs nothing else: order, ordinals, purge."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sluice.changelog.schema import ATTRIBUTES
from sluice.crash import CrashPoint
from sluice.errors import ConfigError, SluiceError
from sluice.monitor.check import findings
from sluice.publish import publisher as publishing
from sluice.publish.transformer import Transformed

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"


class WithoutSecrets:
    """Withholds rows whose text is secret, and says of the others where they come from."""

    def __init__(self, source):
        self.source = source

    def transform(self, changes, layouts):
        assert {str(layout.name) for layout in layouts.values()} == {"public.t"}
        texts = pc.list_element(changes.column("new"), 1)
        said = pa.array([[("origin", self.source)]] * len(changes), ATTRIBUTES)
        return Transformed(pc.fill_null(pc.not_equal(texts, "secret"), True), said, said)


class Broken:
    """Fails on the row that it does not like."""

    def __init__(self, source):
        pass

    def transform(self, changes, layouts):
        if "poison" in str(changes.column("new")):
            raise ValueError("not this one")
        return Transformed()


def no_transformer(source):
    return source


def with_messages(build, **settings):
    return build(PLAIN, ["public.t"], source={"messages": settings, "segments": {"max_changes": 2}})


def set_transformer(world, name):
    world.configure(lambda settings: settings["sources"]["flights"].update(messages={"transformer": name}))


def transformer_finding(world):
    """What `./sluice check` says of the transformer."""
    (found,) = (one for one in findings(world.context) if one.subject.startswith("transformer"))
    return found


def published(world):
    return [(row["ordinal"], row["action"], row["new"]) for row in world.log()]


def test_updates_that_change_nothing_are_not_published_and_keep_their_places(build):
    world = with_messages(build, send_unchanged_updates=False)
    world.master.execute("INSERT INTO t VALUES (1, NULL), (2, 'b')")
    world.master.execute("UPDATE t SET v = v")
    world.master.execute("UPDATE t SET v = 'c' WHERE id = 2")
    world.catch_up()
    assert published(world) == [
        (1, "I", ["1", None]),
        (1, "I", ["2", "b"]),
        (2, "C", None),
        (2, "C", None),
        (3, "U", ["2", "c"]),
    ]
    assert (world.position().ordinal, world.queued(), world.differences()) == (3, set(), {})


def test_updates_that_change_nothing_are_published_unless_told_otherwise(build):
    world = build(PLAIN, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, NULL)")
    world.master.execute("UPDATE t SET v = v")
    world.catch_up()
    assert [action for _, action, _ in published(world)] == ["I", "U"]


def test_a_publisher_that_dies_before_the_purge_purges_also_what_it_withheld(build, monkeypatch):
    world = with_messages(build, send_unchanged_updates=False)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.master.execute("UPDATE t SET v = v")

    def dies(at):
        if at is CrashPoint.LISTED:
            monkeypatch.undo()
            raise RuntimeError("dead")

    monkeypatch.setattr(publishing, "crash_if_asked", dies)
    with pytest.raises(RuntimeError, match="dead"):
        world.publish()
    world.catch_up()
    assert (world.queued(), world.differences()) == (set(), {})
    assert [ordinal for ordinal, _, _ in published(world)] == [1, 2]


@pytest.mark.full
def test_a_transformer_withholds_rows_from_all_slaves(build):
    world = build(
        PLAIN,
        ["public.t"],
        slaves=("zurich", "geneva"),
        source={"messages": {"transformer": f"{__name__}:{WithoutSecrets.__name__}"}},
    )
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'secret')")
    world.master.execute("INSERT INTO t VALUES (3, 'secret')")
    world.master.execute("INSERT INTO t VALUES (4, 'b')")
    world.catch_up()
    for slave in world.slaves:
        assert world.position(slave).ordinal == 3
        assert {row[0] for row in world.reader(slave).execute("SELECT id FROM t")} == {1, 4}


def test_a_transformer_that_fails_stops_publishing_and_nothing_is_lost(build):
    world = with_messages(build, transformer=f"{__name__}:{Broken.__name__}")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    world.master.execute("INSERT INTO t VALUES (2, 'poison')")
    world.master.execute("INSERT INTO t VALUES (3, 'b')")
    for _ in range(2):
        with pytest.raises(SluiceError, match=r"SLC-054.*not this one"):
            world.publish()
        world.let_leases_expire()
    assert (len(published(world)), len(world.queued())) == (1, 2)
    set_transformer(world, None)
    world.catch_up()
    assert world.differences() == {}


UNUSABLE = {
    "no module": "sluice_has_no_such_module:made",
    "no attribute": f"{__name__}:nothing",
    "no transformer": f"{__name__}:{no_transformer.__name__}",
    "no entry point": "unheard_of",
}


@pytest.mark.full
def test_a_transformer_that_is_not_there_is_named_before_anything_is_published(build):
    world = build(PLAIN, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    for name in UNUSABLE.values():
        set_transformer(world, name)
        with pytest.raises(ConfigError, match=f"SLC-054.*{name}"):
            world.publish()
        found = transformer_finding(world)
        assert (found.good, f"SLC-054: the transformer {name}" in found.text) == (False, True)
        assert (published(world), len(world.queued())) == ([], 1)


def test_a_transformer_is_found_as_an_entry_point_of_an_installed_package(build, tmp_path, monkeypatch):
    package = tmp_path / "ours-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(f"[sluice.transformers]\ndiscreet = {__name__}:WithoutSecrets\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    world = with_messages(build, transformer="discreet")
    assert transformer_finding(world).good
    world.master.execute("INSERT INTO t VALUES (1, 'secret'), (2, 'b')")
    world.catch_up()
    assert published(world) == [(1, "C", None), (1, "I", ["2", "b"])]
