"""The sensor of a manual transfer: it takes no slot, and fires when all files are there and have settled."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import AirflowFailException, TaskDeferred

from sluice_airflow.arrival import POLL_S, ArrivalSensor, FilesArrived


@pytest.fixture
def place(deployment):
    """Where carried files arrive, by default."""
    return str(deployment.path / "home" / "initial_files")


def test_the_sensor_defers_to_a_trigger_that_can_be_made_again(place):
    expected = {"url": f"{place}/x", "files": 3, "quiet_s": 10.0}
    with pytest.raises(TaskDeferred) as deferred:
        ArrivalSensor(task_id="arrived", expected=expected).execute({"ti": SimpleNamespace()})
    path, told = deferred.value.trigger.serialize()
    assert path == "sluice_airflow.arrival.FilesArrived"
    assert vars(FilesArrived(**told)).items() >= expected.items()


def test_a_result_that_somebody_edited_cannot_have_the_trigger_look_without_a_pause(place):
    edited = {"url": f"{place}/x", "files": 3, "quiet_s": 10.0, "poll_s": -1}
    with pytest.raises(TaskDeferred) as deferred:
        ArrivalSensor(task_id="arrived", expected=edited).execute({"ti": SimpleNamespace()})
    assert deferred.value.trigger.serialize()[1]["poll_s"] == POLL_S


@pytest.mark.parametrize("url", ["/", "/etc", "s3://b/x?endpoint_override=e", "{0}", "{0}/..", "{0}/x/y", "{0}/../x"])
def test_no_other_directory_is_looked_at_whatever_an_edited_result_says(place, url):
    edited = {"url": url.format(place), "files": 3, "quiet_s": 10.0}
    with pytest.raises(AirflowFailException, match="no slave waits for files in"):
        ArrivalSensor(task_id="arrived", expected=edited).execute({"ti": SimpleNamespace()})


def test_a_directory_fires_when_it_has_all_files_and_they_have_settled(tmp_path):
    place = tmp_path / "arrives"
    looks = []

    class Copied(FilesArrived):
        """Between two looks somebody copies on: by parts, with a nap, and not in the order of names."""

        def _look(self):
            steps = [
                lambda: None,
                lambda: place.mkdir(),
                lambda: (place / "manifest.json").write_text("m"),
                lambda: None,
                lambda: None,
                lambda: (place / ".half").write_text("hidden"),
                lambda: (place / "a").write_text("1"),
                lambda: (place / "b").write_text("2"),
                lambda: (place / "b").write_text("22"),
            ]
            if len(looks) < len(steps):
                steps[len(looks)]()
            looks.append(1)
            return super()._look()

    async def fires():
        return await anext(Copied(str(place), files=3, quiet_s=0.02, poll_s=0.01).run())

    assert asyncio.run(fires()).payload == {"files": 3}
    assert (place / "b").read_text() == "22", "not before the last change"


def test_a_name_that_is_no_text_does_not_end_the_waiting(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "b\udcff").touch()

    async def fires():
        return await anext(FilesArrived(str(tmp_path), files=2, quiet_s=0.02, poll_s=0.01).run())

    assert asyncio.run(fires()).payload == {"files": 2}
