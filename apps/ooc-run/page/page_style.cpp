#include "page/page_style.hpp"

namespace ooc_run {

// The hues of events are distinguishable with colour blindness (based on Okabe and Ito).
const std::string_view page_style = R"(:root {
  --paper: #fff; --ink: #1c2127; --faint: #5b6570; --rule: #d9dee4; --panel: #f5f7f9;
  --read: #0b67a8; --h2d: #4aa5dd; --kernel: #d1590b; --d2h: #b8699a; --write: #07875f;
  --busy: #2f5d8a; --waits-in: #a9bfd4; --waits-out: #e3b873; --bad: #b3261e;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #14181d; --ink: #e4e8ec; --faint: #9aa5b1; --rule: #333b44; --panel: #1c2229;
    --read: #4f9fdc; --h2d: #8fcbf2; --kernel: #f08a45; --d2h: #d993bd; --write: #3dbb92;
    --busy: #6ea3d8; --waits-in: #3f566d; --waits-out: #8a6a33; --bad: #f2857d;
  }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums }
main { max-width: 1120px; margin: 0 auto; padding: 2rem 1.25rem 4rem }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 }
section { padding-top: 1.6rem }
h2 { font-size: 1.2rem; margin: .8rem 0 .9rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--rule) }
h3 { font-size: .95rem; font-weight: 600; margin: 1.4rem 0 .5rem }
pre { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
  background: var(--panel); border-radius: 6px; padding: .7rem .9rem; margin: .8rem 0 }
code { font: .92em ui-monospace, monospace }
.command span { display: inline-block; max-width: 100% }
.heading { margin: .4rem 0; color: var(--faint); overflow-wrap: anywhere; white-space: pre-line }
.note, small { color: var(--faint); font-size: .85rem } .note { margin: .4rem 0 }
.banner { margin: 1rem 0; padding: .75rem 1rem; border-left: 4px solid var(--busy);
  background: var(--panel); border-radius: 0 6px 6px 0; overflow-wrap: anywhere }
.banner.bad { border-color: var(--bad); color: var(--bad); font-weight: 600 }
.figures { display: flex; flex-wrap: wrap; gap: .9rem 2.6rem; margin: 1.3rem 0 }
.figure b { display: block; font-size: 1.5rem; font-weight: 600; line-height: 1.2 }
.figure span { color: var(--faint); font-size: .85rem }

table { border-collapse: collapse; text-align: left }
th { font-weight: 400; color: var(--faint) }
.groups { columns: 20rem; column-gap: 2.5rem }
.group { break-inside: avoid; padding-bottom: 1.2rem } .group h3 { margin-top: 0 }
.group h3::first-letter { text-transform: uppercase }
.facts { display: block }
.facts tbody { display: block; columns: 20rem; column-gap: 2.5rem }
.facts tr { display: flex; justify-content: space-between; gap: 1.2rem; padding: .25rem 0;
  border-bottom: 1px solid var(--rule) }
.facts tr { break-inside: avoid } .facts .wide { column-span: all }
.facts th, .facts td { padding: 0 } .facts th { white-space: nowrap }
.facts td { overflow-wrap: anywhere; text-align: right }
.stages { width: 100% }
.stages td, .stages th { padding: .4rem .7rem; text-align: right; white-space: nowrap }
.stages tbody th { text-align: left; padding-left: 0; color: var(--ink) }
.stages thead th:first-child { text-align: left; padding-left: 0 }
.stages .bars { width: 45% }
.stages small { display: inline-block; min-width: 3.4em; margin-left: .3em }
.bar-row { display: flex; height: 18px; background: var(--panel); border-radius: 3px;
  overflow: hidden; border: 1px solid var(--rule) }
.busy { background: var(--busy) } .waits-in { background: var(--waits-in) }
.waits-out { background: var(--waits-out) }
.bins td, .bins th { padding: .1rem 0 .1rem 2rem; text-align: right }
summary { cursor: pointer; margin-top: 1rem }
.reasons { padding-left: 1.2rem }

.chart { position: relative; margin: 2rem 1.6rem 3.4rem 4.2rem; font-size: 12px;
  line-height: 1; color: var(--faint) }
.chart svg { display: block; width: 100%; height: 100%; overflow: visible;
  border: solid var(--faint); border-width: 0 0 1px 1px }
.chart span { position: absolute; white-space: nowrap }
.tick-below { top: calc(100% + 7px); transform: translateX(-50%) }
.title-below { top: calc(100% + 25px); left: 50%; transform: translateX(-50%) }
.tick-beside { right: calc(100% + 7px); transform: translateY(50%) }
.title-beside { right: calc(100% + 7px); top: -22px }
.group-beside { left: -4.1rem; transform: translateY(50%); color: var(--ink) }
.chart.rows { margin-top: .8rem; margin-left: 6.6rem } .rows .group-beside { left: -6.5rem }
.grid { stroke: var(--rule); stroke-width: 1; vector-effect: non-scaling-stroke }
.bar, .steps { fill: var(--read) }
.bar { stroke: var(--paper); stroke-width: 1; vector-effect: non-scaling-stroke }
.bar.small { stroke: none }
.tips { fill: var(--kernel); fill-opacity: 0 } .tips path:hover { fill-opacity: .3 }
.rate { stroke-width: 1.5; vector-effect: non-scaling-stroke; fill-opacity: .15 }
.ceiling { stroke-width: 1.5; stroke-dasharray: 6 4; vector-effect: non-scaling-stroke }

.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; list-style: none; padding: 0;
  margin: .5rem 0; font-size: .85rem }
.swatch { display: inline-block; width: 12px; height: 12px; border-radius: 2px;
  margin-right: .45em; vertical-align: -1px }
.swatch[class$='-ceiling'] { height: 0; border-top: 2px dashed; border-radius: 0; width: 18px;
  vertical-align: 4px }
.read { fill: var(--read); stroke: var(--read) }
.h2d { fill: var(--h2d); stroke: var(--h2d) }
.kernel { fill: var(--kernel); stroke: var(--kernel) }
.d2h { fill: var(--d2h); stroke: var(--d2h) }
.write { fill: var(--write); stroke: var(--write) }
.swatch.read { background: var(--read) } .swatch.h2d { background: var(--h2d) }
.swatch.kernel { background: var(--kernel) } .swatch.d2h { background: var(--d2h) }
.swatch.write { background: var(--write) }
.rows path:hover { stroke: var(--ink) }
.disk-ceiling { stroke: var(--read); color: var(--read) }
.cache-ceiling { stroke: var(--waits-out); color: var(--waits-out) }
.h2d-ceiling { stroke: var(--h2d); color: var(--h2d) }
.kernel-ceiling { stroke: var(--kernel); color: var(--kernel) }
.d2h-ceiling { stroke: var(--d2h); color: var(--d2h) }

@media screen and (max-width: 760px) {
  main { padding: 1.25rem .9rem 3rem }
  .stages thead, .stages thead tr { display: block } .stages thead { margin-bottom: .8rem }
  .stages thead th { display: inline-block; padding: 0 1.1rem 0 0; font-size: .85rem }
  .stages thead th:first-child, .stages thead th:last-child, .stages thead td { display: none }
  .stages tbody, .stages tbody th, .stages tbody td { display: block }
  .stages tbody tr { display: grid; grid-template-columns: 1fr 1fr 1fr; margin-bottom: .9rem }
  .stages tbody th { grid-area: 1 / 1 / 2 / 3 }
  .stages .bars { grid-area: 2 / 1 / 3 / 4; width: auto }
  .stages tbody th, .stages tbody td { padding: .1rem 0; text-align: left }
  .stages tbody td:last-child { grid-area: 1 / 3 / 2 / 4; text-align: right }
  .chart { margin-right: .9rem }
  .chart.rows { margin-left: 5.8rem } .rows .group-beside { left: -5.7rem }
}
@media print {
  html { font-size: 12px } body { font-size: 11px } main { max-width: none; padding: 0 }
  .chart, .stages, .legend, tr { break-inside: avoid } h2, h3 { break-after: avoid }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
}
)";

}  // namespace ooc_run
