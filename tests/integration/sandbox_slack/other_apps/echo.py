"""The same app as `echo.js`, as the documentation of Bolt for Python shows one."""

import os
import signal
import sys
from threading import Thread
from typing import Any
from wsgiref.simple_server import make_server

from slack_bolt import Ack, App, Respond, Say
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.wsgi import SlackRequestHandler
from slack_sdk import WebClient

app = App(
    client=WebClient(os.environ["SLACK_BOT_TOKEN"], base_url=os.environ["SLACK_API_URL"]),
    signing_secret=os.environ.get("SLACK_SIGNING_SECRET"),
)
BUTTON = {
    "type": "actions",
    "block_id": "press",
    "elements": [
        {"type": "button", "action_id": "press", "text": {"type": "plain_text", "text": "Press"}}
    ],
}
FORM = {
    "type": "modal",
    "callback_id": "form",
    "title": {"type": "plain_text", "text": "Form"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "word",
            "label": {"type": "plain_text", "text": "Word"},
            "element": {"type": "plain_text_input", "action_id": "word"},
        }
    ],
}
HOME = {
    "type": "home",
    "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "At home"}}],
}


@app.command("/echo")
def on_command(ack: Ack, command: dict[str, str], respond: Respond, say: Say) -> None:
    ack()
    respond(f"You said: {command['text']}")
    say(text="Press it", blocks=[BUTTON])


@app.action("press")
def on_press(ack: Ack, body: dict[str, Any], client: WebClient, respond: Respond) -> None:
    ack()
    respond(text=f"Pressed by {body['user']['username']}", replace_original=True)
    client.views_open(trigger_id=body["trigger_id"], view=FORM)


@app.view("form")
def on_form(ack: Ack, view: dict[str, Any], client: WebClient) -> None:
    word = view["state"]["values"]["word"]["word"]["value"]
    if word == "bad":
        ack(response_action="errors", errors={"word": "Not that word"})
        return
    ack()
    client.chat_postMessage(channel="C0MERGEQ", text=f"The word is {word}")


@app.message("hello")
def on_message(message: dict[str, str], say: Say) -> None:
    say(f"Hello <@{message['user']}>")


@app.event("app_home_opened")
def on_home(event: dict[str, str], client: WebClient) -> None:
    client.views_publish(user_id=event["user"], view=HOME)


app_token = os.environ.get("SLACK_APP_TOKEN")
if app_token:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    handler = SocketModeHandler(app, app_token)
    handler.connect()  # type: ignore[no-untyped-call]  # Bolt's own
    print("connected", flush=True)
    signal.pause()
else:
    with make_server("127.0.0.1", 0, SlackRequestHandler(app)) as server:
        # The server would take sys.exit in the middle of an answer for an error of the app.
        signal.signal(signal.SIGTERM, lambda *_: Thread(target=server.shutdown).start())
        print(server.server_port, flush=True)
        server.serve_forever()
