// Dropping files, and looking again while something goes on. Everything works without it.
"use strict";

const drop = document.querySelector("[data-drop]");
if (drop) {
  const input = drop.querySelector("input[type=file]");
  const over = (is_over) => (event) => {
    event.preventDefault();
    drop.classList.toggle("over", is_over);
  };
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, over(true));
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, over(false));
  drop.addEventListener("drop", (event) => {
    if (event.dataTransfer.files.length) input.files = event.dataTransfer.files;
  });
}

const PAUSE = 1000;
async function lookAgain() {
  if (!document.querySelector("main [data-again]")) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector("main").replaceWith(page.querySelector("main"));
  } catch {
    // The server may be gone for a moment; the link on the page leads there again.
  }
  setTimeout(lookAgain, PAUSE);
}
setTimeout(lookAgain, PAUSE);
