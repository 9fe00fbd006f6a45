// Preloaded by hsd and bcoin: with their data in memory they never use LevelDB, so it is not compiled.
const Module = require("node:module");
const load = Module._load;
/** Both find what is compiled by one of these. */
const LOADERS = ["loady", "bindings"];
Module._load = function (request, ...rest) {
  const loader = load.call(this, request, ...rest);
  if (!LOADERS.includes(request)) return loader;
  return (name, ...where) => /^leveldown/.test(name) ? {} : loader(name, ...where);
};
