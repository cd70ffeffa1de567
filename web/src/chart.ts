// A chart of uPlot in the page's colors, as wide as its box; what a click means is the caller's.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "./state";
import { kInks } from "./timeline/scene";

const kHeight = 150;

export interface ChartParts {
  scales: uPlot.Scales;
  x: uPlot.Axis;
  y: uPlot.Axis;
  series: uPlot.Series[]; // without that of x
  data: uPlot.AlignedData;
  hooks?: uPlot.Hooks.Arrays;
  onClick: (chart: uPlot) => void;
}

// Gives what ends the chart.
export function drawChart(box: HTMLElement, { scales, x, y, series, data, hooks, onClick }: ChartParts): () => void {
  const ink = kInks[theme.value];
  const axis: uPlot.Axis = { stroke: ink.dim, font: "11px Inter, system-ui, sans-serif", grid: { stroke: ink.line, width: 1 }, ticks: { show: false }, gap: 4 };
  const chart = new uPlot(
    {
      width: box.clientWidth,
      height: kHeight,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { show: false } },
      scales,
      axes: [{ ...axis, size: 24, ...x }, { ...axis, ...y }],
      series: [{}, ...series],
      hooks: hooks ?? {},
    },
    data,
    box,
  );
  chart.over.addEventListener("click", () => onClick(chart));
  const watch = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: kHeight }));
  watch.observe(box);
  return () => {
    watch.disconnect();
    chart.destroy();
  };
}
