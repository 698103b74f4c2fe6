// How the server is started, and what the extension says where that fails.

"use strict";

const assert = require("node:assert/strict");
const { chmodSync, mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { homedir, tmpdir } = require("node:os");
const { join } = require("node:path");
const test = require("node:test");

const { EventEmitter, fake, Uri } = require("./fake-vscode.js");
const { document, loaded, until } = require("./loaded.js");

const POSIX = process.platform === "win32" ? { skip: "the interpreter is a shell script" } : {};

/** An extension that has been activated with such settings; its server never answers. */
async function started(t, settings, installed) {
  const editor = fake(settings, "/workspace", installed);
  const extension = loaded(editor.vscode);
  t.after(() => extension.deactivate());
  await extension.activate({ subscriptions: [], extension: {} });
  const commands = () => editor.messages.flatMap((text) => text.match(/starting: (.*)/)?.[1] ?? []);
  return { ...editor, commands };
}

/** An interpreter that writes something to standard error, and ends. */
function interpreter(t, text, folder = tmpdir()) {
  const home = mkdtempSync(join(folder, "devicelint-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const path = join(home, "python");
  writeFileSync(path, `#!/bin/sh\necho '${text}' >&2\nexit 1\n`);
  chmodSync(path, 0o755);
  return path;
}

test("a program that does not exist is named", async (t) => {
  const editor = await started(t, { path: ["/nowhere/devicelint"] });
  assert.ok(editor.messages.includes("devicelint cannot start: there is no program /nowhere/devicelint."));
  assert.match(editor.statusItem.text, /^\$\(error\)/);
  assert.match(editor.statusItem.tooltip, /there is no program/);
  assert.ok(editor.statusItem.visible);
  await editor.vscode.commands.executeCommand("devicelint.fixFile");
  editor.open(document(Uri.file("/workspace/train.py"), ""));
  await editor.vscode.commands.executeCommand("devicelint.fixFile");
  assert.ok(editor.messages.includes("The devicelint server is not running."));
  await editor.vscode.commands.executeCommand("devicelint.showVersion");
});

test("an interpreter without devicelint is named, and can be given it", POSIX, async (t) => {
  const python = interpreter(t, "python: No module named devicelint");
  const editor = fake({ interpreter: python }, tmpdir());
  editor.answers.push("Install in Terminal");
  const extension = loaded(editor.vscode);
  t.after(() => extension.deactivate());
  await extension.activate({ subscriptions: [], extension: {} });
  const install = `${python} -m pip install "devicelint[server]"`;
  await until(() => editor.messages.includes(`devicelint is not installed in ${python}. Run: ${install}`), "a message");
  await until(() => editor.terminals[0] === install, "a terminal");
});

test("an interpreter without the extra is named", POSIX, async (t) => {
  const python = interpreter(t, 'devicelint: the language server needs pygls: pip install "devicelint[server]"');
  const { messages } = await started(t, { interpreter: python });
  assert.ok(messages.some((text) => text.startsWith(`devicelint[server] is not installed in ${python}. Run: `)));
});

test("another failure is told with its last line", POSIX, async (t) => {
  const python = interpreter(t, "Traceback\nMemoryError: none left");
  const { messages } = await started(t, { interpreter: python });
  assert.ok(messages.some((text) => /does not start \(.* server --stdio\): MemoryError: none left$/.test(text)));
});

test("settings that need another server start one", async (t) => {
  const editor = await started(t, { path: ["/nowhere/one"] });
  await editor.change("path", ["/nowhere/two"]);
  await until(() => editor.commands().length === 2, "a second start");
  await editor.change("args", ["--log", "${workspaceFolder}/server.log"]);
  await editor.change("hover", false);
  await until(() => editor.commands().length === 3, "three starts");
  assert.deepEqual(editor.commands(), [
    "/nowhere/one server --stdio",
    "/nowhere/two server --stdio",
    "/nowhere/two server --stdio --log /workspace/server.log",
  ]);
});

test("a home, a folder and the environment are replaced in a command", async (t) => {
  process.env.DEVICELINT_TEST = "/nowhere";
  const editor = await started(t, { path: ["${env:DEVICELINT_TEST}/run", "~/x", "${userHome}"] });
  assert.deepEqual(editor.commands(), [`/nowhere/run ${homedir()}/x ${homedir()} server --stdio`]);
});

test("the interpreter of the Python extension is followed", async (t) => {
  const selected = new EventEmitter();
  let path = "/nowhere/a/python";
  const environments = {
    onDidChangeActiveEnvironmentPath: selected.event,
    getActiveEnvironmentPath: () => ({ path }),
    resolveEnvironment: ({ path }) => Promise.resolve({ executable: { uri: { fsPath: path } } }),
  };
  const python = { isActive: false, activate: () => Promise.resolve({ environments }) };
  const editor = await started(t, {}, { "ms-python.python": python });
  path = "/nowhere/b/python";
  await selected.fire();
  await until(() => editor.commands().length === 2, "a restart");
  assert.deepEqual(editor.commands(), [
    "/nowhere/a/python -m devicelint server --stdio",
    "/nowhere/b/python -m devicelint server --stdio",
  ]);
  // What the settings name counts more.
  await editor.change("interpreter", "/nowhere/c/python");
  await selected.fire();
  await until(() => editor.commands().length === 3, "a restart");
  assert.match(editor.commands()[2], /^\/nowhere\/c\/python /);
});
