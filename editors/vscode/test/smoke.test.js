// The built extension, in a VS Code that is none, with the server that people have.
// DEVICELINT names the command; by default it is that of the repository's environment.

"use strict";

const assert = require("node:assert/strict");
const { mkdtempSync, realpathSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join, resolve } = require("node:path");
const test = require("node:test");

const { fake, Position, Uri } = require("./fake-vscode.js");
const { document, loaded, until } = require("./loaded.js");

const PYTHON = resolve(__dirname, "../../../.venv/bin/python");
const COMMAND = process.env.DEVICELINT?.split(" ") ?? [PYTHON, "-m", "devicelint"];

const SCRIPT = `import torch

assert torch.cuda.is_available()

model = torch.nn.Linear(3, 1).to("cuda")
x = torch.zeros(4, 3)
print(model(x))
`;

test("findings come from the server, and its fixes go into the file", async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "devicelint-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const editor = fake({ path: COMMAND, definition: false, trace: { server: "off" } }, folder);
  const uri = Uri.file(join(folder, "träin 1.py"));
  editor.open(document(uri, SCRIPT));
  const extension = loaded(editor.vscode);
  const subscriptions = [];
  t.after(() => extension.deactivate());
  await extension.activate({ subscriptions, extension: {} });
  assert.deepEqual(editor.messages.filter((text) => /does not start/.test(text)), []);

  const [found] = await until(() => editor.shown.get(uri.toString()), "findings");
  assert.equal(found.source, "devicelint");
  assert.equal(found.code.value, "DEV103");
  assert.deepEqual({ ...found.range.start }, { line: 5, character: 4 });

  await until(() => editor.statusItem.text === "$(warning) devicelint: 1 finding", "a count of findings");
  assert.ok(editor.statusItem.visible);

  editor.vscode.window.activeTextEditor.selection.active = new Position(5, 6);
  await editor.vscode.commands.executeCommand("devicelint.explainRule");
  const [, page] = editor.executed.find(([name]) => name === "markdown.showPreview");
  assert.match(editor.providers["devicelint-rule"].provideTextDocumentContent(page), /created-on-cpu.*DEV103/);

  editor.vscode.window.activeTextEditor.selection.active = new Position(6, 7);
  await editor.vscode.commands.executeCommand("devicelint.goToMove");
  const [, , , places] = editor.executed.find(([name]) => name === "editor.action.goToLocations");
  assert.deepEqual(places.map((one) => one.range.start.line), [4]);

  await editor.vscode.commands.executeCommand("devicelint.fixFile");
  const [edit] = (await until(() => editor.edits[0], "an edit")).changes;
  assert.deepEqual([edit.uri, edit.newText], [uri.toString(), ', device="cuda"']);

  // Outside of findings, one picks from the list of rules.
  editor.answers.push("DEV101");
  editor.vscode.window.activeTextEditor.selection.active = new Position(0, 0);
  await editor.vscode.commands.executeCommand("devicelint.explainRule");
  const [, picked] = editor.executed.filter(([name]) => name === "markdown.showPreview").at(-1);
  assert.equal(picked.path, "/DEV101.md");

  await editor.vscode.commands.executeCommand("devicelint.showVersion");
  assert.ok(editor.messages.some((text) => /^devicelint \d+\.\d+.*, started with: .* server --stdio$/.test(text)));

  // What the server can change while it runs, it is told; nothing is restarted.
  await editor.change("ignore", ["DEV103"]);
  await until(() => editor.shown.get(uri.toString()).length === 0, "no findings");
  assert.equal(editor.messages.filter((text) => /starting: /.test(text)).length, 1);
  await until(() => editor.statusItem.text === "$(check) devicelint", "no count of findings");
  await editor.vscode.commands.executeCommand("devicelint.fixFile");
  assert.ok(editor.messages.some((text) => /There is nothing to fix in this file/.test(text)));

  await editor.vscode.commands.executeCommand("devicelint.restart");
  assert.equal(editor.messages.filter((text) => /starting: /.test(text)).length, 2);
  await until(() => editor.registered.has("devicelint.fixAll"), "a server after the first");
});
