/**
 * Tells on the error output that a module for WebSocket has been loaded. The first 257 imports of
 * `ws` fail, as without free file descriptors.
 */
import { register } from "node:module";

const hook = `
  import { writeSync } from "node:fs";
  let failures = 257;
  export function resolve(name, context, next) {
    if (name === "ws" && failures-- > 0) throw new Error("EMFILE: too many open files");
    return next(name, context);
  }
  export function load(url, context, next) {
    if (/\\/src\\/sockets\\/|\\/node_modules\\/ws\\//.test(url)) writeSync(2, "loaded " + url + "\\n");
    return next(url, context);
  }
`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
