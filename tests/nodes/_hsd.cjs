// Preloaded by hsd: with its data in memory it never uses LevelDB, so it is not compiled.
const Module = require("node:module");
const load = Module._load;
Module._load = function (request, ...rest) {
  if (request !== "loady") return load.call(this, request, ...rest);
  const loady = load.call(this, request, ...rest);
  return (name, ...where) => name === "leveldown" ? {} : loady(name, ...where);
};
