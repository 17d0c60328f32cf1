// Begins the console. All that it shows comes from the API of the server that sent it.
import "uplot/dist/uPlot.min.css";
import "./app.css";
import App from "./App.svelte";
import { mount } from "svelte";

mount(App, { target: document.body });
