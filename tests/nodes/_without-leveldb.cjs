// Preloaded by hsd and bcoin: with their data in memory they never use LevelDB, so it is not compiled.
const Module = require("node:module");
const load = Module._load;
/** The modules by which hsd and bcoin load compiled code. */
const LOADERS = ["loady", "bindings"];
Module._load = function (request, ...rest) {
  const loader = load.call(this, request, ...rest);
  if (!LOADERS.includes(request)) return loader;
  return (name, ...where) => /^leveldown/.test(name) ? {} : loader(name, ...where);
};
