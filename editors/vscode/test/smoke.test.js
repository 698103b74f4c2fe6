// The built extension, in a VS Code that is none, with the server that people have.
// DEVICELINT names the command; by default it is that of the repository's environment.

"use strict";

const assert = require("node:assert/strict");
const { existsSync, mkdtempSync, realpathSync, rmSync } = require("node:fs");
const Module = require("node:module");
const { tmpdir } = require("node:os");
const { join, resolve } = require("node:path");
const test = require("node:test");

const { fake, Position, Uri } = require("./fake-vscode.js");

const BUILT = resolve(__dirname, "../dist/extension.js");
const PYTHON = resolve(__dirname, "../../../.venv/bin/python");
const COMMAND = process.env.DEVICELINT?.split(" ") ?? [PYTHON, "-m", "devicelint"];

const SCRIPT = `import torch

assert torch.cuda.is_available()

model = torch.nn.Linear(3, 1).to("cuda")
x = torch.zeros(4, 3)
print(model(x))
`;

function loaded(vscode) {
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
  delete require.cache[BUILT];
  try {
    return require(BUILT);
  } finally {
    Module._load = load;
  }
}

async function until(happened, what) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const found = happened();
    if (found) {
      return found;
    }
    await new Promise((go) => setTimeout(go, 20));
  }
  throw new Error(`never: ${what}`);
}

function document(uri, text) {
  const lines = text.split("\n");
  return {
    uri, fileName: uri.fsPath, languageId: "python", version: 1, isUntitled: false, isDirty: false,
    lineCount: lines.length, getText: () => text, lineAt: (line) => ({ text: lines[line] }),
  };
}

test("findings come from the server, and its fixes go into the file", async (t) => {
  assert.ok(existsSync(BUILT), "build it first: npm run build");
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "devicelint-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const editor = fake({ path: COMMAND, definition: false, trace: { server: "off" } }, folder);
  const uri = Uri.file(join(folder, "träin 1.py"));
  editor.open(document(uri, SCRIPT));
  const extension = loaded(editor.vscode);
  const subscriptions = [];
  t.after(() => extension.deactivate());
  await extension.activate({ subscriptions, extension: {} });
  assert.deepEqual(editor.messages.filter((text) => /devicelint does not start/.test(text)), []);

  const [found] = await until(() => editor.shown.get(uri.toString()), "findings");
  assert.equal(found.source, "devicelint");
  assert.equal(found.code.value, "DEV103");
  assert.deepEqual({ ...found.range.start }, { line: 5, character: 4 });

  editor.vscode.window.activeTextEditor.selection.active = new Position(6, 7);
  await editor.vscode.commands.executeCommand("devicelint.goToMove");
  const [, , , places] = editor.executed.find(([name]) => name === "editor.action.goToLocations");
  assert.deepEqual(places.map((one) => one.range.start.line), [4]);

  await editor.vscode.commands.executeCommand("devicelint.fixFile");
  const [edit] = (await until(() => editor.edits[0], "an edit")).changes;
  assert.deepEqual([edit.uri, edit.newText], [uri.toString(), ', device="cuda"']);

  await editor.vscode.commands.executeCommand("devicelint.restart");
  await until(() => editor.registered.has("devicelint.fixAll"), "a server after the first");
});

test("a server that does not start is told of", async () => {
  const editor = fake({ path: ["/nowhere/devicelint"] }, tmpdir());
  const extension = loaded(editor.vscode);
  await extension.activate({ subscriptions: [], extension: {} });
  await until(() => editor.messages.some((text) => /does not start \(\/nowhere\/devicelint/.test(text)), "a message");
  await extension.deactivate();
});
