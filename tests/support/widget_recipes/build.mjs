/* Builds the recipes in a folder as a company's own build would: node build.mjs FOLDER, with FOLDER/node_modules beside them. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const folder = process.argv[2];
const { build } = createRequire(import.meta.url)("esbuild");
const shared = {
  absWorkingDir: folder, bundle: true, jsx: "automatic", loader: { ".vue": "js" }, logLevel: "warning",
  alias: { vue: "vue/dist/vue.esm-bundler.js" },
  define: {
    "process.env.NODE_ENV": '"production"', __VUE_OPTIONS_API__: "true", __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
};
await build({ ...shared, entryPoints: ["bundler.js", "react-page.jsx", "next-page.jsx", "vue.js"], outdir: "built" });
await build({ ...shared, entryPoints: ["next-server.jsx"], outfile: "built/next-server.cjs", platform: "node" });

const { createNexus, nexus } = await import(pathToFileURL(join(folder, "node_modules/nexus-widget/index.js")));
const onServer = createNexus({ host: "https://chat.example.com", company: "acme" });
onServer.open();
await onServer.identify("token");
onServer.on("message", () => {})();
const refusals = [{ host: "chat.example.com", company: "acme" }, { host: "https://chat.example.com" }].map((options) => {
  try { createNexus(options); return ""; } catch (error) { return error.message; }
});
const page = createRequire(import.meta.url)(join(folder, "built/next-server.cjs")).page;
console.log(JSON.stringify({ names: Object.keys(nexus), refusals, page }));
