fetch("api/v1/meta").then((meta) => meta.text()).then((text) => { document.getElementById("app").textContent = text; });
