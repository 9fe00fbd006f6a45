/**
 * What is wrong with the arguments, the environment and the configuration file.
 *
 * @module
 */

/** Everything that is wrong, found at once. */
export class ConfigError extends Error {
  override name = "ConfigError";
  /** One line each. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}
