"""The plugin for opencode, which has no commands as hooks: a few lines of JavaScript that call ours."""

import json
from collections.abc import Sequence

_TEXT = """\
// Written by `recollectum mcp install opencode`, and taken away by the same with --undo.
// It asks Recollectum what it remembers when a prompt is sent, and records each turn.
import { spawn } from "node:child_process"

const COMMAND = __COMMAND__

function call(event) {
  return new Promise((resolve) => {
    const done = (text) => {
      try { resolve(JSON.parse(text).hookSpecificOutput?.additionalContext ?? "") } catch { resolve("") }
    }
    try {
      const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
      let text = ""
      const timer = setTimeout(() => { child.kill(); resolve("") }, 1000)
      child.on("error", () => resolve(""))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (piece) => { text += piece })
      child.on("close", () => { clearTimeout(timer); done(text) })
      child.stdin.end(JSON.stringify(event))
    } catch { resolve("") }
  })
}

const words = (parts) => (parts ?? [])
  .filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\\n")

export const Recollectum = async ({ client }) => {
  const recalled = new Map()
  return {
    "chat.message": async (input, output) => {
      const event = { hook_event_name: "UserPromptSubmit", session_id: input.sessionID, prompt: words(output.parts) }
      const context = await call(event)
      if (context) recalled.set(input.sessionID, context)
    },
    "experimental.chat.system.transform": async (input, output) => {
      const context = recalled.get(input?.sessionID)
      if (context) output.system.push(context)
    },
    "experimental.session.compacting": async (input) => {
      await call({ hook_event_name: "PreCompact", session_id: input.sessionID })
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      const session_id = event.properties.sessionID
      recalled.delete(session_id)
      try {
        const found = await client.session.messages({ path: { id: session_id } })
        const last = (found.data ?? []).filter((one) => one.info.role === "assistant").at(-1)
        const answer = words(last?.parts)
        if (answer) await call({ hook_event_name: "Stop", session_id, last_assistant_message: answer })
      } catch { /* What cannot be read is not recorded. */ }
    },
  }
}
"""


def plugin_text(command: Sequence[str]) -> str:
    """The plugin that calls this command line."""
    return _TEXT.replace("__COMMAND__", json.dumps(list(command)))
