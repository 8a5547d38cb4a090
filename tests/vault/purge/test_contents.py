"""The search of a purge reads every member of an archive, also of an odd one."""

import io
import zipfile

from recollectum.storage.encrypted_pages import PageKeys
from recollectum.vault.purge.contents import FileReader, SearchKeys
from recollectum.vault.purge.matching import Matcher


def test_a_member_without_a_name_is_searched_too() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", "the door is teal, and so is the window; " * 20)
    # A name of one zero byte, which is read as no name.
    data = made.getvalue().replace(b"\0\0x", b"\0\0\0")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == [""]
    reader = FileReader(
        Matcher([b"so is the window", b"never said"], (), None), SearchKeys(PageKeys([]), frozenset()), ()
    )
    reader.read("there.zip", io.BytesIO(data))
    assert reader.findings.found == {0}
    assert not reader.findings.unread
