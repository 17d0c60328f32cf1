// Builds the console into the crate that embeds it: one script, one style sheet, one page. Nothing is inlined, because the server
// allows no script or style inside a page.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: "../crates/serve/assets/console",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
