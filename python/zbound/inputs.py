"""What the functions accept: models and what stands for one, and choices of features."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Optional, Protocol, Union, cast

from ._zbound import Model
from .names import positions

__all__ = ["FeaturesLike", "HasModel", "ModelLike", "feature_spec", "plain"]


class HasModel(Protocol):
    """What stands for a model, such as an `Rbm`."""

    @property
    def model(self) -> Model: ...


ModelLike = Union[Model, HasModel]
"""A model, or what has one as its `model`."""


def plain(model: ModelLike) -> Model:
    """The model itself."""
    # What is no model is refused by the extension, with its type.
    return model if isinstance(model, Model) else cast(Model, getattr(model, "model", model))


FeaturesLike = Union[None, str, Iterable[Iterable[Any]]]
"""`degree:K`, `first:N`, `all`, `edges`, or a list of sets of variables, by number or name."""

def feature_spec(features: FeaturesLike, model: Any = None) -> Optional[str]:
    """The text form of a choice of features; variables of a model with names may be named."""
    if features is None or isinstance(features, str):
        return features
    if isinstance(model, Model):
        return json.dumps([positions(model, feature) for feature in features])
    return json.dumps([[int(i) for i in feature] for feature in features])
