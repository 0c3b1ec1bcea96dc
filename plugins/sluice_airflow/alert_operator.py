"""Sends what the job `alerts` decides to people, by the notifiers of Airflow's providers.

A notifier takes its texts for templates. So these name ours, and no text of others is one.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from airflow.sdk import Context

from sluice.bounded_calls import BoundedCalls
from sluice.config import configuration
from sluice.config.alerts import AlertReceiver
from sluice.errors import SluiceError
from sluice.outside_text import in_one_line, in_slack
from sluice_airflow.failures import JobFailed
from sluice_airflow.operator import SluiceSparkOperator

# Longer than the notifiers try by themselves. A notifier that is still at work then may have sent the message.
PATIENCE_S = 200.0
_MOST_OF_AN_ERROR = 300
_SUBJECT, _TEXT = "{{ alert_subject }}", "{{ alert_text }}"

Notifier = Callable[[dict[str, Any]], None]


def notifier(receiver: AlertReceiver) -> Notifier:
    """The notifier of Airflow for a receiver. Raises ImportError, its provider is not installed."""
    make, module, name = _NOTIFIERS[receiver.way]
    return make(getattr(import_module(f"airflow.providers.{module}"), name), receiver)  # type: ignore[no-any-return]


def _smtp(kind: Any, receiver: AlertReceiver) -> Any:
    text = "<pre>{{ alert_html }}</pre>"
    return kind(smtp_conn_id=receiver.connection, subject=_SUBJECT, html_content=text, **receiver.options)


def _slack(kind: Any, receiver: AlertReceiver) -> Any:
    return kind(slack_conn_id=receiver.connection, text="{{ alert_slack }}", **receiver.options)


def _slack_webhook(kind: Any, receiver: AlertReceiver) -> Any:
    return kind(slack_webhook_conn_id=receiver.connection, text="{{ alert_slack }}")


def _apprise(kind: Any, receiver: AlertReceiver) -> Any:
    return kind(apprise_conn_id=receiver.connection, title=_SUBJECT, body=_TEXT, **receiver.options)


_NOTIFIERS: Mapping[str, tuple[Callable[[Any, AlertReceiver], Any], str, str]] = {
    "smtp": (_smtp, "smtp.notifications.smtp", "SmtpNotifier"),
    "slack": (_slack, "slack.notifications.slack", "SlackNotifier"),
    "slackwebhook": (_slack_webhook, "slack.notifications.slack_webhook", "SlackWebhookNotifier"),
    "apprise": (_apprise, "apprise.notifications.apprise", "AppriseNotifier"),
}


class AlertOperator(SluiceSparkOperator):
    """Run the job `alerts`, send its message to all receivers, and record that one of them took it.

    Raises:
        JobFailed: SLC-934, none took it; the next run sends it again.
    """

    patience_s: float = PATIENCE_S

    def execute(self, context: Context) -> dict[str, Any]:
        result = super().execute(context)
        if result.get("text"):
            self._send(context, str(result["subject"]), str(result["text"]))
            self.arguments = {"sent": True}
            super().execute(context)
        return result

    def _send(self, context: Context, subject: str, text: str) -> None:
        settings = configuration.load().alerts
        receivers = settings.receivers if settings else {}
        calls = {name: partial(_tell, receiver, subject, text) for name, receiver in receivers.items()}
        # One after the other: older Airflows mix up the answers to threads that ask for connections at the same time.
        ended: dict[str, str | SluiceError] = {}
        for name, call in calls.items():
            ended |= BoundedCalls[str](1).results({name: call}, self.patience_s)
        silent = f"it has not answered after {self.patience_s:g} s, and may have it"
        failed = {name: reason for name in calls if (reason := ended.get(name, silent))}
        for name, reason in failed.items():
            self.log.warning("alert receiver=%s did not take it: %s", name, reason)
        if len(failed) < len(calls) or not calls:
            return
        # What a server says may be more than the readers of a note should see.
        error = SluiceError(
            934,
            f"an alert was taken by none of {', '.join(calls)}",
            "see the warnings in the log of this task: correct `alerts.to`, its Airflow connection, or install its "
            "provider; the next run tries again",
        )
        ended_so = JobFailed(str(error))
        self.tell_end(context, ended_so)
        raise ended_so


def _tell(receiver: AlertReceiver, subject: str, text: str) -> str:
    """Tell a receiver; why that did not go, or nothing."""
    texts = {
        "alert_subject": subject,
        "alert_text": text,
        "alert_html": html.escape(text),
        "alert_slack": in_slack(f"{subject}\n{text}"),
    }
    try:
        notifier(receiver)(texts)
    except ImportError as error:
        provider = _NOTIFIERS[receiver.way][1].partition(".")[0]
        return f"{in_one_line(str(error))}; install apache-airflow-providers-{provider}"
    except Exception as error:
        return in_one_line(f"{type(error).__name__}: {error}")[:_MOST_OF_AN_ERROR]
    return ""
