// The built extension, loaded with a module `vscode` that is not VS Code's.

"use strict";

const { existsSync } = require("node:fs");
const assert = require("node:assert/strict");
const Module = require("node:module");
const { resolve } = require("node:path");

const BUILT = resolve(__dirname, "../dist/extension.js");

function loaded(vscode) {
  assert.ok(existsSync(BUILT), "build it first: npm run build");
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

module.exports = { document, loaded, until };
