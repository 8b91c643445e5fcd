import globals from "globals";

// What would only show when the line runs: names that are not there, parts that nobody reaches or uses.
export default [{ ignores: ["examples/**"] }, {
  languageOptions: { ecmaVersion: "latest", sourceType: "module", globals: globals.browser },
  linterOptions: { reportUnusedDisableDirectives: "error" },
  rules: {
    "no-undef": "error", "no-unused-vars": "error", "no-unused-private-class-members": "error", "no-unreachable": "error",
    "no-dupe-keys": "error", "no-dupe-class-members": "error", "no-const-assign": "error", "no-self-assign": "error",
  },
}];
