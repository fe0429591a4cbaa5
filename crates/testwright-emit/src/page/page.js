"use strict";
// Everything can be read without this; controls show themselves only where they work.
for (const button of document.querySelectorAll(".copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const code = button.closest("figure").querySelector("pre code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
const reveal = () => {
  const at = location.hash && document.getElementById(location.hash.slice(1));
  const closed = at && at.querySelector(":scope > details:not([open])");
  if (closed) closed.open = true;
};
addEventListener("hashchange", reveal);
reveal();
for (const input of document.querySelectorAll("[data-filter]")) {
  const rows = document.querySelectorAll("#" + input.dataset.filter + " tbody tr");
  const box = input.closest(".filter");
  box.hidden = false;
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    const closed = rows.length && rows[0].closest("details");
    if (wanted && closed) closed.open = true;
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    box.querySelector("[role=status]").textContent = wanted ? shown + " of " + rows.length : "";
  });
}
