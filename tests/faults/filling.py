"""A file layer below SQLite with room for a certain number of bytes and no more."""

from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from collections.abc import Buffer

LAYER = "filling"


class FillingLayer(apsw.VFS):
    """The system's own file layer, until the room is used up."""

    def __init__(self, name: str) -> None:
        #: Bytes that can still be written; None when there is no end of them.
        self.room: int | None = None
        #: How often a write found no room.
        self.refused = 0
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _FillingFile(name, flags, self)

    def excepthook(
        self, etype: type[BaseException] | None, evalue: BaseException | None, etraceback: TracebackType | None
    ) -> bool:
        # SQLite goes on after some failures, as it should; they are counted, not shown.
        return True


@cache
def filling_layer() -> FillingLayer:
    """The one such layer: SQLite's layer that encrypts holds on to what it once stood upon."""
    return FillingLayer(LAYER)


class _FillingFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], layer: FillingLayer) -> None:
        super().__init__("", name, flags)
        self._layer = layer

    def excepthook(
        self, etype: type[BaseException] | None, evalue: BaseException | None, etraceback: TracebackType | None
    ) -> bool:
        return True

    def xWrite(self, data: "Buffer", offset: int) -> None:
        size = len(bytes(data))
        if self._layer.room is not None:
            if self._layer.room < size:
                self._layer.refused += 1
                raise apsw.FullError("no room")
            self._layer.room -= size
        super().xWrite(data, offset)
