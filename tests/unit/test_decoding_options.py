"""Options of logical decoding: each has a range, some exclude each other, and all are rendered."""

from __future__ import annotations

import pytest

from sluice.errors import ConfigError
from sluice.vendors.gaussdb.capture.slot.option_kinds import OPTIONS
from sluice.vendors.gaussdb.capture.slot.options import DecodingOptions, slot_name

PARALLEL = {"parallel-decode-num": 2}
RIGHT = [
    ("include-xids", False),
    ("include-timestamp", 1),
    ("include-user", True),
    ("skip-empty-xacts", 0),
    ("white-table-list", ["public.t1", "*.t3", "mine.*"]),
    ("white-table-list", "public.t1,public.t2"),
    ("exclude-users", ["userA", "an o'ther"]),
    ("exclude-userids", [10, 4294967295]),
    ("exclude-userids", "10, 16384"),
    ("dynamic-resolution", False),
    ("max-txn-in-memory", 100),
    ("max-reorderbuffer-in-memory", 0),
    ("parallel-decode-num", 20),
    ("standby-connection", True),
    ("sender-timeout", 0),
    ("sender-timeout", 2147483647),
    ("enable-heartbeat", True),
    ("status-interval", 1),
]
RIGHT_IN_PARALLEL = [
    *(("decode-style", style) for style in "tjb"),
    *(("sending-batch", batch) for batch in (0, 1)),
    *(("parallel-queue-size", 1 << power) for power in range(1, 11)),
    ("max-txn-in-memory", 101),
    ("max-reorderbuffer-in-memory", 101),
]
WRONG = [
    ("include-xids", "true"),
    ("include-xids", 2),
    ("include-user", None),
    ("white-table-list", []),
    ("white-table-list", ["t1"]),
    ("white-table-list", ["public.a b"]),
    ("white-table-list", ["public.a,public.b"]),
    ("white-table-list", ["public.t1", "public.t1"]),
    ("exclude-users", ["a,b"]),
    ("exclude-users", ["a", "a"]),
    ("exclude-users", ["ä" * 32]),
    ("exclude-users", " a"),
    ("exclude-userids", [0]),
    ("exclude-userids", "1,1"),
    ("exclude-userids", [4294967296]),
    ("exclude-userids", "1;2"),
    ("max-txn-in-memory", 101),
    ("max-txn-in-memory", -1),
    ("max-reorderbuffer-in-memory", 101),
    ("parallel-decode-num", 0),
    ("parallel-decode-num", 21),
    ("parallel-decode-num", True),
    ("sender-timeout", -1),
    ("sender-timeout", 2147483648),
    ("status-interval", 0),
    ("force-binary", 1),
]
WRONG_IN_PARALLEL = [
    ("decode-style", "x"),
    ("decode-style", 1),
    ("sending-batch", 2),
    *(("parallel-queue-size", size) for size in (0, 1, 3, 1000, 2048, 2.0)),
]


def code_of(written):
    with pytest.raises(ConfigError) as refused:
        DecodingOptions.of(written)
    return refused.value.code


@pytest.mark.parametrize(("name", "value"), RIGHT)
def test_what_is_in_its_range_is_taken(name, value):
    assert DecodingOptions.of({name: value}).given


@pytest.mark.parametrize(("name", "value"), RIGHT_IN_PARALLEL)
def test_options_of_parallel_decoding_are_taken_with_it(name, value):
    assert DecodingOptions.of({**PARALLEL, name: value}).is_parallel


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_is_out_of_its_range_is_refused_by_name(name, value):
    with pytest.raises(ConfigError, match=name) as refused:
        DecodingOptions.of({name: value})
    assert refused.value.code == 438


@pytest.mark.parametrize(("name", "value"), WRONG_IN_PARALLEL)
def test_so_is_what_is_out_of_a_range_of_parallel_decoding(name, value):
    assert code_of({**PARALLEL, name: value}) == 438


@pytest.mark.parametrize("serial", [{}, {"parallel-decode-num": 1}])
@pytest.mark.parametrize("other", [{"decode-style": "t"}, {"sending-batch": 0}, {"parallel-queue-size": 128}])
def test_serial_decoding_excludes_options_of_parallel_decoding(serial, other):
    assert code_of({**other, **serial}) == 438


def test_a_status_comes_before_the_server_loses_patience():
    assert code_of({"sender-timeout": 10_000}) == 438
    assert DecodingOptions.of({"sender-timeout": 10_000, "status-interval": 9_999}).given


def test_memory_is_limited_by_what_the_server_has_in_parallel_decoding():
    limited = DecodingOptions.of({**PARALLEL, "max-txn-in-memory": 3072, "max-reorderbuffer-in-memory": 5})
    limited.expect_memory(12 * 1024 * 1024)
    with pytest.raises(ConfigError, match="from 0 to 3071") as refused:
        limited.expect_memory(12 * 1024 * 1024 - 1)
    assert refused.value.code == 438


def test_what_is_not_given_is_left_to_the_server():
    nothing = DecodingOptions.of({})
    assert nothing.arguments() == []
    assert nothing.start_replication("Slot_1", 0) == 'START_REPLICATION SLOT "slot_1" LOGICAL 0/0'
    assert {name: nothing.value(name) for name in OPTIONS if nothing.value(name) is not None} == {
        "include-xids": True,
        "include-timestamp": False,
        "include-user": False,
        "skip-empty-xacts": False,
        "dynamic-resolution": True,
        "parallel-decode-num": 1,
        "decode-style": "b",
        "sending-batch": 0,
        "parallel-queue-size": 128,
        "standby-connection": False,
        "enable-heartbeat": False,
        "status-interval": 10_000,
    }
    assert (nothing.format, nothing.is_batched) == ("j", False)
    assert DecodingOptions.of(PARALLEL).format == "b"


def test_options_are_quoted_in_the_command_and_bound_in_a_call():
    some = {"exclude-users": ["o'neil"], "white-table-list": ["public.t1"], "include-xids": False}
    assert DecodingOptions.of(some).arguments() == [
        *("exclude-users", "o'neil"),
        *("white-table-list", "public.t1"),
        *("include-xids", "false"),
    ]
    more = {**some, **PARALLEL, "sending-batch": 1, "status-interval": 5}
    command = DecodingOptions.of(more).start_replication("s", 0x6F_E3C53568)
    assert command.startswith('START_REPLICATION SLOT "s" LOGICAL 6F/E3C53568 (')
    assert command.partition(" (")[2][:-1].split(", ") == [
        """"exclude-users" 'o''neil'""",
        """"white-table-list" 'public.t1'""",
        """"include-xids" 'false'""",
        """"parallel-decode-num" '2'""",
        """"sending-batch" '1'""",
    ]
    with pytest.raises(ConfigError) as refused:
        DecodingOptions.of(more).arguments()
    assert refused.value.code == 438
    assert "excludes" in refused.value.fact


@pytest.mark.parametrize("name", ["", "a-b", "ä", "a b", "x" * 64, 's"; DROP'])
def test_a_name_that_no_slot_can_have_is_refused(name):
    with pytest.raises(ConfigError) as refused:
        slot_name(name)
    assert refused.value.code == 41
    assert "no name of a replication slot" in refused.value.fact
