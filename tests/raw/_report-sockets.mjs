/** Tells on the error output that a module for WebSocket has been loaded. */
import { register } from "node:module";

const hook = `
  import { writeSync } from "node:fs";
  export function load(url, context, next) {
    if (/\\/src\\/sockets\\/|\\/node_modules\\/ws\\//.test(url)) writeSync(2, "loaded " + url + "\\n");
    return next(url, context);
  }
`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
