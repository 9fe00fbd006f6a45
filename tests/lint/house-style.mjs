/**
 * The rules of the house for `src` and `static`, which `deno lint` runs: short lines, short
 * functions, and no object literal that is spread only to save lines.
 */
const COLUMNS_MAX = 100;
const LINES_MAX = 80;
const HOUSE = /[/\\](?:src|static)[/\\](?!generated[/\\]|setting-types\.ts$|kinds[/\\]kind\.ts$)/;

function checkLength(context, node) {
  const lines = context.sourceCode.getText(node).split("\n").length;
  if (lines <= LINES_MAX) return;
  const message = `A function has at most ${LINES_MAX} lines; this one has ${lines}.`;
  context.report({ node, message });
}

export default {
  name: "house",
  rules: {
    "short-lines": {
      create: (context) => ({
        Program() {
          if (!HOUSE.test(context.filename)) return;
          let start = 0;
          for (const line of context.sourceCode.text.split("\n")) {
            if (line.length > COLUMNS_MAX) {
              const message = `A line has at most ${COLUMNS_MAX} columns; this has ${line.length}.`;
              context.report({ range: [start, start + line.length], message });
            }
            start += line.length + 1;
          }
        },
      }),
    },
    "short-functions": {
      create(context) {
        if (!HOUSE.test(context.filename)) return {};
        return {
          FunctionDeclaration: (node) => checkLength(context, node),
          FunctionExpression: (node) => checkLength(context, node),
          ArrowFunctionExpression: (node) => checkLength(context, node),
        };
      },
    },
    "no-spread-literal": {
      create(context) {
        if (!HOUSE.test(context.filename)) return {};
        return {
          "ObjectExpression > SpreadElement > ObjectExpression"(node) {
            context.report({ node, message: "Write the members themselves, one on each line." });
          },
        };
      },
    },
  },
};
