// A child that holds the official Node SDK: `node runner.mjs FOLDER`, FOLDER's node_modules holds openai.
// Reads calls, a JSON line each, from standard input; holds each with maxRetries 0, many at a time; writes what the SDK
// returned or threw, a JSON line each. Ends with its input.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const folder = resolve(process.argv[2]);
const { OpenAI } = createRequire(join(folder, "package.json"))("openai");
const { version } = JSON.parse(readFileSync(join(folder, "node_modules", "openai", "package.json"), "utf8"));
const clients = new Map();

const METHODS = {
  "chat.completions": (client, params, options) => client.chat.completions.create(params, options),
  completions: (client, params, options) => client.completions.create(params, options),
  embeddings: (client, params, options) => client.embeddings.create(params, options),
  responses: (client, params, options) => client.responses.create(params, options),
  models: (client, params, options) => client.models.list({ ...options, query: params }),
  "models.retrieve": (client, params, options) => client.models.retrieve(params.model, options),
};

function clientOf({ base_url, api_key, timeout }) {
  const key = `${base_url} ${api_key}`;
  if (!clients.has(key)) {
    const made = { baseURL: base_url, apiKey: api_key || "unused", maxRetries: 0, timeout: timeout * 1000 };
    clients.set(key, new OpenAI({ ...made, organization: null, project: null }));
  }
  return clients.get(key);
}

async function converse(asked) {
  const headers = asked.api_key ? asked.headers : { Authorization: null, ...asked.headers };
  const result = await METHODS[asked.endpoint](clientOf(asked), asked.params, { headers });
  if (asked.endpoint === "models") return result.body ?? { object: result.object, data: result.data };
  if (asked.params.stream !== true) return result;
  const chunks = [];
  for await (const chunk of result) {
    chunks.push(chunk);
    if (chunks.length === asked.events) {
      result.controller.abort();
      break;
    }
    if (asked.pause_ms) await new Promise((done) => setTimeout(done, asked.pause_ms));
  }
  return chunks;
}

function fieldsOf(error) {
  const fields = { message: String(error?.message ?? error).slice(0, 16384) };
  for (const [name, from] of [["status_code", "status"], ["code", "code"], ["type", "type"], ["param", "param"], ["body", "error"], ["request_id", "requestID"]]) {
    if (error?.[from] !== undefined) fields[name] = error[from];
  }
  return fields;
}

async function answer(asked) {
  try {
    return { id: asked.id, parsed: await converse(asked), exception: "", fields: {} };
  } catch (error) {
    return { id: asked.id, parsed: null, exception: error?.constructor?.name ?? "Error", fields: fieldsOf(error) };
  }
}

const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");

createInterface({ input: process.stdin })
  .on("line", async (line) => say(await answer(JSON.parse(line))))
  .on("close", () => process.exit(0));
say({ name: "openai-node", version });
