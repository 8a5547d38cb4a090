"""The doctor says which extension is not what was agreed to, and says nothing where there is none."""

from pathlib import Path

from recollectum import Recollectum
from recollectum.upkeep.doctor.extension_checks import extensions
from recollectum.upkeep.doctor.home_checks import Severity
from tests.home.extensions.samples import write_folder


def test_each_state_of_the_extensions_is_found(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "source")
    with Recollectum(tmp_path / "home", settings={"encryption": "off", "storage.reserve_mib": 0}) as home:
        assert list(extensions(home.home)) == []
        folder = Path(home.extensions.install(source, home.extensions.preview(source).token).folder)
        (whole,) = extensions(home.home)
        assert (whole.severity, whole.words) == (Severity.FINE, "1 extension is as agreed to")
        (folder / "server.js").write_text("// evil", encoding="utf-8")
        (folder / "CONTEXT.md").unlink()
        (changed,) = extensions(home.home)
        assert changed.severity is Severity.WARNING
        assert changed.words.startswith("CONTEXT.md and 1 more of weather is not what was agreed to")
        assert changed.cure is not None
        assert "recollectum extensions trust weather" in changed.cure
        (home.home.root / "extensions/installed.json").write_text("", encoding="utf-8")
        (damaged,) = extensions(home.home)
        assert damaged.severity is Severity.PROBLEM
        assert "cannot be read, so no extension has an effect" in damaged.words
