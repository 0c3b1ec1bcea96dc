"""Texts of the pages that a deployment may have in its own words, and the choices that the form of an update offers."""

from __future__ import annotations

from enum import StrEnum


class PageText(StrEnum):
    """A column of the list, or a control."""

    NAME = "name"
    HOLDBACK = "holdback"
    LAG = "lag"
    RATE = "rate"
    COUNTER = "counter"
    STATUS = "status"
    DISPATCHER = "dispatcher"
    CONNECTION = "connection"
    REFRESH = "refresh"
    INITIAL_UPDATE = "initial_update"
    STANDBY = "standby"
    ACTIVATE = "activate"
    RESTART = "restart"
    COMPARE = "compare"
    CANCEL_UPDATE = "cancel_update"
    REMOVE_FIRST = "remove_first"
    CLEAR_QUEUE = "clear_queue"
    REMOVE = "remove"
    STANDBY_ALL = "standby_all"
    ACTIVATE_ALL = "activate_all"
    FILL_ALL = "fill_all"
    RECREATE_TRIGGERS = "recreate_triggers"


# The others are called like their keys.
_OTHERWISE = {
    PageText.DISPATCHER: "Active / Standby",
    PageText.RESTART: "Fill again",
    PageText.COMPARE: "Compare now",
    PageText.FILL_ALL: "Fill all again",
}
PAGE_TEXTS = {text: _OTHERWISE.get(text, text.replace("_", " ").capitalize()) for text in PageText}


class FormChoice(StrEnum):
    """A choice of the form of an initial update, beside the source and its slaves."""

    MODE = "mode"
    FILES = "files"
    NEXT = "next"
    RESUME = "resume"
