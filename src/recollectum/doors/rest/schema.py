"""The OpenAPI document: the framework's, with the problem that any route may answer and the key that all need."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from recollectum.doors.rest.answers import ErrorPlace, Problem

_TEMPLATE = "#/components/schemas/{model}"
_ABOUT = "A private memory for agents and people. Every path but /healthz needs an API key."


def make_schema(app: FastAPI, version: str) -> dict[str, Any]:
    """The document for all routes that are there now."""
    made = get_openapi(title="Recollectum", version=version, description=_ABOUT, routes=app.routes)
    _, more = models_json_schema([(Problem, "serialization"), (ErrorPlace, "serialization")], ref_template=_TEMPLATE)
    components = made.setdefault("components", {})
    components.setdefault("schemas", {}).update(more["$defs"])
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    made["security"] = [{"key": []}]
    return made
