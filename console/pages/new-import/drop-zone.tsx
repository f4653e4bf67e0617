import { useId, useState } from 'preact/hooks';
import { formatSize, showFileName } from '../../lib/text.js';
import { Icon } from '../../parts/icon.js';

/** Area for dropping or choosing a file. */
export function DropZone({ file, onFile }: { file: File | undefined; onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  const id = useId();
  return (
    <div
      class={`drop${isOver ? ' over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => {
        setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const dropped = event.dataTransfer?.files[0];
        if (dropped) onFile(dropped);
      }}
    >
      <Icon name="imports" />
      <p>{file ? `${showFileName(file.name)}, ${formatSize(file.size)}` : 'Drop a CSV file here, or'}</p>
      <input
        id={id}
        class="hidden"
        type="file"
        accept=".csv,.txt,.tsv,text/csv,text/plain"
        onChange={(event) => {
          const chosen = event.currentTarget.files?.[0];
          if (chosen) onFile(chosen);
        }}
      />
      <label for={id} class="button">
        {file ? 'Choose another file' : 'Choose a file'}
      </label>
    </div>
  );
}
