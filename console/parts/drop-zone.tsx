import { useId, useState } from 'preact/hooks';
import { Icon } from './icon.js';

interface DropZoneProps {
  /** Text about the chosen files, or about the files to choose. */
  text: string;
  isMultiple?: boolean;
  onFiles: (files: readonly [File, ...File[]]) => void;
}

/** Area for dropping or choosing files. */
export function DropZone({ text, isMultiple = false, onFiles }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const id = useId();
  const add = (list: FileList | null | undefined): void => {
    const [first, ...others] = list ?? [];
    if (first) onFiles([first, ...(isMultiple ? others : [])]);
  };
  return (
    <div
      class={`drop${isOver ? ' over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        add(event.dataTransfer?.files);
      }}
    >
      <Icon name="imports" />
      <p>{text}</p>
      <input
        id={id}
        class="hidden"
        type="file"
        multiple={isMultiple}
        accept=".csv,.txt,.tsv,.json,text/csv,text/plain"
        onChange={(event) => {
          add(event.currentTarget.files);
          event.currentTarget.value = ''; // so that a changed file can be chosen again
        }}
      />
      <label for={id} class="button">
        {isMultiple ? 'Choose files' : 'Choose a file'}
      </label>
    </div>
  );
}
