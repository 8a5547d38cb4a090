"""A program that changes keys once when it is told to: `HOME vaults|master`."""

import sys
from pathlib import Path

from recollectum import Recollectum
from recollectum.upkeep.rekey.master_key import rekey_master
from recollectum.upkeep.rekey.vault_keys import rekey_vaults


def main() -> None:
    home, what = sys.argv[1:]
    with Recollectum(Path(home)) as r:
        print("ready", flush=True)
        sys.stdin.readline()
        if what == "vaults":
            rekey_vaults(r.admin)
        else:
            rekey_master(r.admin)
        print("done", flush=True)


if __name__ == "__main__":
    main()
