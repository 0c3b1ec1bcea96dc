"""Removes the change log of a source: first its segments are marked as gone in the manifest, then the files go."""

from __future__ import annotations

from sluice.changelog.manifest import Manifest
from sluice.changelog.segment_file import is_segment_of
from sluice.changelog.segment_files import SegmentFiles
from sluice.errors import SluiceError


def remove_segments(manifest: Manifest, files: SegmentFiles, source: str, *, may_be_gone: bool) -> int:
    """Remove every segment of a source, listed or not; how many files there were.

    Args:
        may_be_gone: the listed segments may all be missing.

    Raises:
        SluiceError: SLC-652, none of them is there, as on a disk that is not mounted; some cannot be deleted.
    """
    listed = manifest.kept_segments()
    there = [name for name in files.names() if is_segment_of(name, source)]
    if not may_be_gone and listed and {segment.file.name for segment in listed}.isdisjoint(there):
        raise SluiceError(
            652,
            f"none of the {len(listed)} segments of {source} is where the change log should be",
            "mount the directory, or fix the store, and run this again; if they are gone for good, do it with "
            "`--store-only`",
        )
    manifest.mark_trimmed(listed)
    for name in there:
        files.remove(name)
    if left := [name for name in files.names() if is_segment_of(name, source)]:
        raise SluiceError(
            652,
            f"{len(left)} of {len(there)} segments of {source} cannot be deleted, such as {left[0]}",
            "nobody needs them any more; fix the rights of the directory or of the store, and run this again",
        )
    return len(there)
