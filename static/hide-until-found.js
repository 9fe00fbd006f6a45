/** Runs before anything is seen: what a link leads to is shown by `explorer.js`, once it is there. */
if (location.hash.length > 1) document.documentElement.classList.add("finding");
