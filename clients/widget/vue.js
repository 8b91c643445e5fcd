import { inject } from "vue";
import { createNexus } from "./index.js";

const KEY = Symbol.for("nexus");

export const nexusPlugin = {
  install(app, options) {
    const nexus = createNexus(options);
    app.provide(KEY, nexus);
    app.config.globalProperties.$nexus = nexus;
  },
};

export function useNexus() {
  const nexus = inject(KEY, null);
  if (!nexus) throw new Error("useNexus: app.use(nexusPlugin, { host, company }) comes first");
  return nexus;
}
