// The pages of the rules, as previews.

import { commands, Disposable, languages, Uri, window, workspace } from "vscode";

import type { Server } from "./server";
import { isOurs } from "./status";

const SCHEME = "devicelint-rule";

interface Rule {
  code: string;
  name: string;
  summary: string;
  default: boolean;
}

export function registerRulePages(server: Server): Disposable {
  const pages = new Map<string, string>();
  return Disposable.from(
    workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => pages.get(uri.path),
    }),
    commands.registerCommand("devicelint.explainRule", async (given?: unknown) => {
      const rule = typeof given === "string" ? given : await pickRule(server);
      const page = rule && (await server.ask<string | null>("devicelint.rulePage", rule));
      if (page) {
        const uri = Uri.parse(`${SCHEME}:/${rule}.md`);
        pages.set(uri.path, page);
        await commands.executeCommand("markdown.showPreview", uri);
      }
    }),
  );
}

/** The rule of the finding at the cursor; without one, or with several, the one that is picked. */
async function pickRule(server: Server): Promise<string | undefined> {
  const here = codesAtCursor();
  if (here.length === 1) {
    return here[0];
  }
  const rules = await server.ask<Rule[]>("devicelint.rules");
  const offered = (rules ?? []).filter((rule) => !here.length || here.includes(rule.code));
  const items = offered.map((rule) => ({
    label: rule.code,
    description: rule.default ? rule.name : `${rule.name} (off by default)`,
    detail: rule.summary,
  }));
  const options = { placeHolder: "Rule to explain", matchOnDescription: true, matchOnDetail: true };
  return items.length ? (await window.showQuickPick(items, options))?.label : undefined;
}

function codesAtCursor(): string[] {
  const editor = window.activeTextEditor;
  if (!editor) {
    return [];
  }
  const here = editor.selection.active;
  const codes = languages
    .getDiagnostics(editor.document.uri)
    .filter((found) => isOurs(found) && found.range.contains(here))
    .map(({ code }) => String(typeof code === "object" ? code.value : code));
  return [...new Set(codes)];
}
