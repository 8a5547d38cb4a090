"""The only code that calls a model: embedders, and wrappers that are embedders themselves."""
