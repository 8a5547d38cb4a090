"""How many examples Hypothesis tries: `ci` by default, `thorough` by HYPOTHESIS_PROFILE."""

import os

from hypothesis import HealthCheck, settings

# How fast a shared machine makes examples says nothing about the code.
_PATIENT = [HealthCheck.too_slow]
# The same examples each time where a red run must mean a change; new ones each time on a developer's machine.
_FIXED = os.environ.get("CI") == "true"

settings.register_profile(
    "ci", max_examples=50, deadline=None, derandomize=_FIXED, print_blob=not _FIXED, suppress_health_check=_PATIENT
)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, derandomize=False, print_blob=True, suppress_health_check=_PATIENT
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
