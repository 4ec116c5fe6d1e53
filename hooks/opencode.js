// holdpoint: asks holdpoint-hook before every tool call; `holdpoint uninstall` takes it out.
import { spawnSync } from "node:child_process"

const ask = (directory, event, input, output) => {
  const body = JSON.stringify({ hook_event_name: event, directory, input, output })
  const options = { input: body, encoding: "utf8", cwd: directory, timeout: 10000 }
  return spawnSync("holdpoint-hook", ["agent", "opencode", event], options)
}

export const Holdpoint = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const answer = ask(directory, "tool.execute.before", input, output)
    if (answer.error || answer.status !== 0)
      throw new Error((answer.stderr || `holdpoint-hook did not answer: ${answer.error}`).trim())
  },
  "tool.execute.after": async (input, output) => {
    const answer = ask(directory, "tool.execute.after", input, output)
    if (answer.status === 0 && answer.stdout) output.output += "\n" + answer.stdout.trim()
  },
  "shell.env": async (input, output) => {
    output.env.HOLDPOINT_AGENT = "opencode"
    if (input.sessionID) output.env.HOLDPOINT_SESSION = input.sessionID
  },
  event: async ({ event }) => {
    if (event.type === "session.created") ask(directory, event.type, event.properties, {})
  },
})
