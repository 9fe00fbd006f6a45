/**
 * How the command is used.
 *
 * @module
 */

/** What `nodeface --help` prints. */
export const USAGE = `Usage: nodeface [NODE_URL] [options]
       nodeface check [NODE_URL] [options]
       nodeface kinds [KIND]

Serves the explorer at /v1/spec, information about the node at /v1/info and the
description at /spec.json and /spec.yaml.

  check           ask the node once, print what /v1/info would say and what is
                  wrong with the description; exit 1 on trouble
  kinds           list the kinds of node that are known, or print one as configuration

  NODE_URL        where the node answers, such as http://127.0.0.1:8545
                  (environment NODEFACE_URL)
  --kind KIND     what kind of node it is (default: found by asking; environment NODEFACE_KIND)
  --spec PLACE    the node's own OpenAPI description, a file or a URL, read again when it changes,
                  or none (default: where nodes of its kind describe themselves; environment
                  NODEFACE_SPEC)
  --config FILE   a configuration, YAML or JSON, read again on SIGHUP
                  (environment NODEFACE_CONFIG)
  --host HOST     the address to listen on (default 127.0.0.1; environment HOST)
  --port PORT     the port to listen on (default 8080; 0 for a free one; environment PORT)
  --log FORM      write each request to standard output: text, json or off
                  (default off; environment NODEFACE_LOG)
  --version       print the version
  --help          print this text
`;
