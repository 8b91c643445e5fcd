import type { Plugin } from "vue";
import type { Nexus, NexusOptions } from "./index.js";

/** `app.use(nexusPlugin, { host, company })` loads the chat. */
export declare const nexusPlugin: Plugin<[NexusOptions]>;

/** The chat, in a component of an app that has the plugin. */
export declare function useNexus(): Nexus;

declare module "vue" {
  interface ComponentCustomProperties {
    $nexus: Nexus;
  }
}
