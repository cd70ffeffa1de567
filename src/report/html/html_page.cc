#include "report/html/html_page.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "base/sha256.h"
#include "report/html/html_colors.h"
#include "text/html.h"

namespace tacho {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:13px/20px Inter,system-ui,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1440px;margin:0 auto;padding:20px}
h1{font-size:20px;line-height:28px;font-weight:600;margin:12px 0 4px;max-width:150ch}
h1::first-letter{text-transform:uppercase}
h2{font-size:14px;font-weight:600;margin:24px 0 8px;padding-top:12px;border-top:1px solid var(--line)}
h3,.answers h2,figcaption{font-size:11px;line-height:16px;font-weight:600;color:var(--dim);margin:16px 0 4px}
p,ul{margin:4px 0;max-width:160ch}
ul{padding-left:16px}
p b,li b{font-weight:600}
a{color:var(--accent);text-decoration:none}
a:hover{text-decoration:underline}
code,.k{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px}
code{overflow-wrap:anywhere}
.top{display:flex;flex-wrap:wrap;gap:4px 20px;align-items:baseline;color:var(--dim);border-bottom:1px solid var(--line);padding-bottom:8px}
.top b{color:var(--ink);font-weight:600}
.top nav{margin-left:auto;display:flex;flex-wrap:wrap;gap:4px 16px}
.dim,.axis{color:var(--dim)}
.warn,.warn td:first-child{color:var(--warn)}
.bad,.bad td:first-child{color:var(--bad)}
.bad td:first-child{font-weight:600}
.strong{font-weight:600}
.answers{display:grid;grid-template-columns:repeat(3,1fr);gap:0 36px;margin-top:16px}
.answers>div{border-top:1px solid var(--line);padding:8px 0 12px;break-inside:avoid}
.answers h2{margin:0;padding:0;border:0}
.answers strong{font-size:16px;line-height:24px;font-weight:600}
.answers p{margin:0;overflow-wrap:anywhere}
.answers svg{display:block;width:100%;height:3px;margin:4px 0;background:var(--n1)}
table{border-collapse:collapse;margin:4px 0 12px}
th{font-size:11px;line-height:16px;font-weight:500;color:var(--dim);text-align:right;vertical-align:bottom;padding:4px 0 4px 16px;white-space:nowrap}
td{height:24px;padding:1px 0 1px 16px;text-align:right;white-space:nowrap;border-top:1px solid var(--line)}
th:first-child,td:first-child{padding-left:0}
th.t,td.t{text-align:left}
tbody tr:hover{background:var(--hover)}
td.s{white-space:normal;min-width:320px}
td.b{width:88px}
td.b svg{display:block;width:72px;height:8px}
td.wide{width:176px}
td.wide svg{width:160px;height:12px}
.line{fill:none;stroke:var(--dim);stroke-width:1.2;vector-effect:non-scaling-stroke}
i{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:8px}
.legend{color:var(--dim);font-size:12px}
.legend i{margin-left:8px}
.legend i:first-child{margin-left:0}
.pair{display:flex;flex-wrap:wrap;gap:0 56px}
.scroll{overflow-x:auto}
figure{margin:8px 0 16px;break-inside:avoid}
.parts .stack{position:relative;height:28px}
.stack svg{position:absolute;inset:0;width:100%;height:100%;border-radius:3px}
.parts ul{list-style:none;padding:0;margin:4px 0;display:flex;flex-wrap:wrap;gap:0 20px;font-size:12px;max-width:none}
text{font:12px Inter,system-ui,sans-serif}
.charts{display:grid;grid-template-columns:3fr 2fr;gap:0 36px}
.chart svg{display:block;width:100%;height:120px;border-bottom:1px solid var(--line);border-top:1px solid var(--line)}
.half .chart{margin:0}
.half .chart svg{height:56px}
.axis{font-size:11px;line-height:16px;display:flex;justify-content:space-between}
.axis b{font-weight:400}
.needle{stroke-width:1.5;vector-effect:non-scaling-stroke}
.curve{stroke-width:1.5;vector-effect:non-scaling-stroke;fill:none!important}
.mini figcaption span{font-weight:400;margin-left:12px}
.lane{display:flex;height:18px;border-top:1px solid var(--line)}
.lane>span{flex:0 0 150px;font-size:11px;line-height:17px;color:var(--dim);white-space:nowrap;overflow:hidden;text-overflow:ellipsis;padding-right:8px}
.lane>svg{flex:1;min-width:0;width:100%}
.lane svg svg{height:16px;width:100%}
.lane text{font-size:11px}
.fall{max-width:1000px}
.fall .lane>span{flex-basis:200px;font-size:12px;color:inherit}
.fall .lane>b{flex:0 0 84px;text-align:right;font-weight:400;font-size:12px;line-height:17px}
.fall .lane:last-of-type>b,.fall .lane:first-of-type>b{font-weight:600}
.edge{fill:var(--dim)}
details{border-top:1px solid var(--line);padding:4px 0}
summary{cursor:pointer;padding:4px 0;font-weight:500}
.tools{display:flex;gap:12px;align-items:center;margin:4px 0;min-height:24px}
input{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--line);border-radius:4px;padding:1px 8px;width:220px}
button{font:inherit;color:var(--accent);background:none;border:0;padding:0;cursor:pointer}
th.k{font:500 11px/16px Inter,system-ui,sans-serif}
th button{color:inherit;font-weight:inherit}
th[aria-sort] button{color:var(--ink)}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
[hidden]{display:none}
@media(max-width:1000px){.answers{grid-template-columns:repeat(2,1fr)}.charts{grid-template-columns:1fr}}
@media(max-width:640px){.answers{grid-template-columns:1fr}}
@media(max-width:1000px){.words{display:none}}
@media print{@page{size:A4;margin:12mm}main{max-width:none;padding:0}body{background:#fff;font-size:9px;line-height:13px}
.tools,nav,.words,.files{display:none}th button{display:contents}.scroll{overflow:visible}
td,th{height:auto;line-height:12px;padding:0 0 0 7px}th{font-size:8px}th,.k{white-space:normal}.k{font-size:8px;overflow-wrap:anywhere}
td.b,td.b svg{width:40px}td.wide,td.wide svg{width:90px}td.wide svg{height:8px}
h1{font-size:15px;line-height:20px}h2{margin:10px 0 4px;padding-top:5px;font-size:11px}h3,.answers h2,figcaption{font-size:9px;line-height:12px;margin:6px 0 2px}
.answers{grid-template-columns:repeat(3,1fr);gap:0 20px;margin-top:6px}.answers>div{padding:4px 0}.answers strong{font-size:11px;line-height:14px}
figure{margin:4px 0 6px}.parts .stack{height:14px}.parts ul,.legend{font-size:8px}.charts{grid-template-columns:3fr 2fr}.chart svg{height:56px}.half .chart svg{height:24px}
.axis{font-size:8px;line-height:10px}.lane{height:11px}.lane>span{flex-basis:90px;font-size:8px;line-height:11px}.lane>svg,.lane svg svg{height:10px}.fall .lane>span,.fall .lane>b{font-size:8px;line-height:11px}.fall .lane{height:12px}.lane text{font-size:7px}
i{width:7px;height:7px;margin-right:4px}.pair{gap:0 24px;flex-wrap:nowrap}.pair>div{flex:1;min-width:0}ul{margin:2px 0}
thead,tr{break-inside:avoid}h2,h3{break-after:avoid}svg,i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)css";

// Sorts, searches and shortens the tables. The page is fully readable without it.
constexpr std::string_view kScript = R"js(
"use strict";
const units={ns:1,us:1e3,ms:1e6,s:1e9,B:1,kB:1e3,MB:1e6,GB:1e9,TB:1e12};
const value=t=>{const m=/^([<>]?)(-?[\d.,]+) ?(\w+)?/.exec(t.trim());if(!m)return NaN;
return +m[2].replace(/,/g,"")*(units[m[3]]||1)*(m[1]=="<"?.999:m[1]==">"?1.001:1)};
for(const table of document.querySelectorAll("table[data-show]")){
const body=table.tBodies[0],rows=[...body.rows],most=+table.dataset.show;let all=rows.length<=most+4,query="";
const tools=document.createElement("div");tools.className="tools";
const more=document.createElement("button"),count=document.createElement("span");more.type="button";count.className="dim";
const show=()=>{let n=0,hits=0;for(const row of body.rows){const hit=row.textContent.toLowerCase().includes(query);
hits+=hit;row.hidden=!hit||(!all&&++n>most)}
more.hidden=hits<=most;more.textContent=all?"show fewer":"show all "+hits+" rows";count.textContent=query?hits+" of "+rows.length:""};
if(rows.length>most+4){const find=document.createElement("input");find.type="search";find.placeholder="search";
find.setAttribute("aria-label","search this table");find.oninput=()=>{query=find.value.toLowerCase();show()};
tools.append(find,more,count);more.onclick=()=>{all=!all;show()};table.parentNode.before(tools);show()}
if(rows.length>2)[...table.tHead.rows[0].cells].forEach((head,i)=>{if(!head.textContent)return;
const button=document.createElement("button");button.type="button";button.textContent=head.textContent;head.textContent="";head.append(button);
const text=head.classList.contains("t");
button.onclick=()=>{const down=head.getAttribute("aria-sort")?head.getAttribute("aria-sort")=="ascending":!text;
for(const other of table.tHead.rows[0].cells)other.removeAttribute("aria-sort");
head.setAttribute("aria-sort",down?"descending":"ascending");
const key=row=>text?row.cells[i].textContent:value(row.cells[i].textContent);
const sorted=[...body.rows].sort((a,b)=>{let x=key(a),y=key(b);if(!text){if(isNaN(x))return isNaN(y)?0:1;if(isNaN(y))return -1}
return (x<y?-1:x>y?1:0)*(down?-1:1)});body.append(...sorted);show()}})}
)js";

std::string HashOf(std::string_view text) { return "'sha256-" + Base64(Sha256(text)) + "'"; }

}  // namespace

std::string HtmlPage(std::string_view title, const std::string& body) {
  const std::string style = HtmlColors() + std::string(kStyle);
  return fmt::format(
      "{}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
      "script-src {}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n"
      "<script>{}</script>\n</body>\n</html>\n",
      kHtmlReportBegin, HashOf(style), HashOf(kScript), HtmlText(title), style, body, kScript);
}

}  // namespace tacho
