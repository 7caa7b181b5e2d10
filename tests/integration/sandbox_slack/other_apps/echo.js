// An app as Bolt's documentation shows one: Socket Mode where there is an app-level token, else HTTP.
const { App, LogLevel } = require("@slack/bolt");

const app = new App({
  token: process.env.SLACK_BOT_TOKEN,
  appToken: process.env.SLACK_APP_TOKEN,
  signingSecret: process.env.SLACK_SIGNING_SECRET,
  socketMode: Boolean(process.env.SLACK_APP_TOKEN),
  logLevel: LogLevel.WARN,
  clientOptions: { slackApiUrl: process.env.SLACK_API_URL },
});

app.command("/echo", async ({ command, ack, respond, say }) => {
  await ack();
  await respond(`You said: ${command.text}`);
  await say({
    text: "Press it",
    blocks: [
      {
        type: "actions",
        block_id: "press",
        elements: [{ type: "button", action_id: "press", text: { type: "plain_text", text: "Press" } }],
      },
    ],
  });
});

app.action("press", async ({ ack, body, client, respond }) => {
  await ack();
  await respond({ text: `Pressed by ${body.user.username}`, replace_original: true });
  await client.views.open({
    trigger_id: body.trigger_id,
    view: {
      type: "modal",
      callback_id: "form",
      title: { type: "plain_text", text: "Form" },
      submit: { type: "plain_text", text: "Send" },
      blocks: [
        {
          type: "input",
          block_id: "word",
          label: { type: "plain_text", text: "Word" },
          element: { type: "plain_text_input", action_id: "word" },
        },
      ],
    },
  });
});

app.view("form", async ({ ack, view, client }) => {
  const word = view.state.values.word.word.value;
  if (word === "bad") {
    await ack({ response_action: "errors", errors: { word: "Not that word" } });
    return;
  }
  await ack();
  await client.chat.postMessage({ channel: "C0MERGEQ", text: `The word is ${word}` });
});

app.message("hello", async ({ message, say }) => {
  await say(`Hello <@${message.user}>`);
});

app.event("app_home_opened", async ({ event, client }) => {
  await client.views.publish({
    user_id: event.user,
    view: { type: "home", blocks: [{ type: "section", text: { type: "mrkdwn", text: "At home" } }] },
  });
});

process.on("SIGTERM", async () => {
  await app.stop();
  process.exit(0);
});

app.start({ host: "127.0.0.1", port: 0 }).then((server) => {
  console.log(process.env.SLACK_APP_TOKEN ? "connected" : server.address().port);
});
