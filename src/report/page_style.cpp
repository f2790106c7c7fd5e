#include "report/page_style.h"

namespace cairn {

const char* const kPageStyle = R"(
:root{--bg:#fbfaf7;--ink:#23262b;--dim:#6d7480;--line:#dcd8ce;--ours:#2f7d5b;--naive:#b9b2a2;--torch:#d98a3d;--step:#7fb39a;--bad:#b3402f}
@media (prefers-color-scheme:dark){:root{--bg:#17191c;--ink:#e6e4de;--dim:#969da8;--line:#33373d;--naive:#66625a;--step:#3d6e58}}
body{background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif;max-width:920px;margin:2.5rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.1rem;margin:2.2rem 0 .6rem}p.sub{color:var(--dim);margin:.2rem 0 1.4rem}
.cards{display:flex;gap:.8rem;flex-wrap:wrap}.card{border:1px solid var(--line);border-radius:8px;padding:.7rem 1rem;min-width:9rem}
.card b{display:block;font-size:1.5rem;color:var(--ours)}.card span{color:var(--dim);font-size:.85rem}
.chart{width:100%;height:auto}.chart text{fill:var(--ink);font-size:12px}.chart .label{text-anchor:end}.chart .tick{fill:var(--dim);text-anchor:middle}
.chart .grid{stroke:var(--line)}.naive{fill:var(--naive)}.ours{fill:var(--ours)}.torch{fill:var(--torch)}.step{fill:var(--step)}
.curve{fill:none;stroke:var(--ours);stroke-width:2}
details{border-top:1px solid var(--line);padding:.35rem 0}summary{cursor:pointer;display:flex;gap:.7rem;align-items:baseline}
summary .n{color:var(--dim);min-width:2rem;text-align:right}summary code{flex:1;overflow-wrap:anywhere}summary .t{color:var(--dim);white-space:nowrap}
pre{background:color-mix(in srgb,var(--line) 35%,transparent);padding:.7rem;border-radius:6px;overflow:auto;font-size:12px;line-height:1.45}
table{border-collapse:collapse;font-size:.9rem}td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}th{color:var(--dim);font-weight:500}
.badge{display:inline-block;border-radius:4px;padding:0 .4rem;font-size:.78rem;border:1px solid var(--ours);color:var(--ours);margin-right:.25rem}
.badge.no{border-color:var(--bad);color:var(--bad)}.class{color:var(--dim);font-size:.85rem}
)";

}  // namespace cairn
