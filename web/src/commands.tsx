// The list of commands: what the keys do, found by name.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { kCommands, runCommand, type Command } from "./keys";
import { commandsOpen } from "./state";

const kList = "commands-list";
const idOf = (at: number) => `command-${at}`;

export function Commands() {
  const box = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  useLayoutEffect(() => box.current?.showModal(), []); // before the next key is typed
  useEffect(() => document.getElementById(idOf(at))?.scrollIntoView({ block: "nearest" }), [at]);
  const words = text.toLowerCase().split(/\s+/);
  const found = kCommands.filter((command) => command.key !== ">" && (command.when?.() ?? true) && words.every((word) => command.name.toLowerCase().includes(word)));
  const run = (command: Command | undefined) => {
    if (!command) return;
    box.current?.close(); // first, so that the focus is back where the command may move it from
    commandsOpen.value = false;
    runCommand(command);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0 && found.length > 0) setAt((at + by + found.length) % found.length);
    else if (event.key === "Enter") run(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog class="commands" ref={box} aria-label="Commands" onClose={() => box.current && (commandsOpen.value = false)} onClick={(event) => event.target === box.current && box.current?.close()}>
      <input
        type="text" role="combobox" aria-label="Command" aria-expanded={true} aria-controls={kList} aria-autocomplete="list"
        aria-activedescendant={found.length > 0 ? idOf(at) : undefined} placeholder="Command" autocomplete="off" spellcheck={false} value={text} onKeyDown={onKeyDown}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul id={kList} role="listbox" aria-label="Commands">
        {found.map((command, i) => (
          <li key={command.key} id={idOf(i)} role="option" aria-selected={i === at} onMouseMove={() => setAt(i)} onClick={() => run(command)}>
            <span>{command.name}</span>
            <kbd>{command.key}</kbd>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="dim">no command has this in its name</p>}
    </dialog>
  );
}
