"use client";

import { useEffect, useRef } from "react";
import { createNexus, nexus } from "./index.js";

/* The chat belongs to the page and stays when the component is removed. */
export function useNexus(options) {
  const { host, company, theme, identify, page } = options;
  const wasSignedIn = useRef(Boolean(identify));
  useEffect(() => { createNexus(options); }, [host, company]);
  useEffect(() => { if (theme) nexus.theme(theme); }, [theme]);
  useEffect(() => { if (page) nexus.page(page); }, [page?.url, page?.title]);
  const signedIn = Boolean(identify);
  useEffect(() => {
    if (signedIn === wasSignedIn.current) return;
    wasSignedIn.current = signedIn;
    if (identify) nexus.identify(identify).catch((error) => console.error(error));
    else nexus.forget();
  }, [signedIn]);
  return nexus;
}

export function NexusChat(options) {
  useNexus(options);
  return null;
}
