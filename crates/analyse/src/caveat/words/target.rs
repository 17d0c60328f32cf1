//! Sentences of caveats about what the target is. They hold before and after measuring, so they are in the
//! present tense.

use super::Words;
use stend_base::text::plural_en;
use stend_base::{Bytes, Lang, Nanos, Say, Share, format, say, say_in};

pub(super) fn in_use(reasons: &[Say]) -> Words {
    let list = Say::both(|l| reasons.iter().map(|r| r.get(l)).collect::<Vec<_>>().join("; "));
    let (en, ru) = (list.en, list.ru);
    Words {
        text: say!(
            "The target {en}. Only reads run, and the numbers include I/O of other programs.",
            "Объект {ru}. Выполняется только чтение, и в числах есть чужой ввод-вывод."
        ),
        advice: say!(
            "Stop the others, or measure a directory on it, where a file of our own can be written.",
            "Остановите остальных или укажите каталог на нём: там можно писать в собственный файл."
        ),
    }
}

pub(super) fn other_load(device: &str, iops: f64, bytes_per_s: f64) -> Words {
    let text = say!(
        |l| "Other programs used `{device}` right before the run: {i} IOPS, {b}. They lower the results.",
        "Прямо перед прогоном `{device}` нагружали другие программы: {i} IOPS, {b}. Они занижают результаты.",
        i = format::iops(iops, l),
        b = format::throughput(bytes_per_s, l)
    );
    Words {
        text,
        advice: say!(
            "Find them with `iotop` or `pidstat -d 1`, wait or stop them, and run it again.",
            "Найдите их командой `iotop` или `pidstat -d 1`, дождитесь конца или остановите и запустите снова."
        ),
    }
}

pub(super) fn run_beside(runs: &str, drives: &str) -> Words {
    Words {
        text: say!(
            "Another run of Stend loaded {drives} at the same time (`{runs}`): each lowered the results of the other.",
            "В то же время {drives} нагружал другой прогон Stend (`{runs}`): каждый занизил результаты другого."
        ),
        advice: say!(
            "Repeat them one after the other, or publish both as one experiment.",
            "Повторите их по очереди или публикуйте вместе, как один опыт."
        ),
    }
}

pub(super) fn volatile_cache(drives: &Say, cases: u32) -> Words {
    let Say { en, ru } = drives;
    let cases_en = plural_en(u64::from(cases), "case writes", "cases write");
    Words {
        text: say!(
            "{cases} {cases_en} without syncs, and the cache of {en} is volatile: a power failure loses its contents.",
            "Случаев, которые пишут без синхронизации: {cases}; кэш {ru} энергозависим, и при потере питания его содержимое пропадёт."
        ),
        advice: say!(
            "Compare these writes only with others without syncs; to measure durable writes of an application use `sync`.",
            "Сравнивайте такую запись лишь с другой записью без синхронизации; запись с подтверждением измеряйте с `sync`."
        ),
    }
}

pub(super) fn in_memory(what: &str) -> Words {
    let (what, several) = quoted(what);
    let one = say!(
        "The target is on `{what}`, in the memory of this machine: no drive is measured.",
        "Объект находится на `{what}`, в памяти этой машины: измеряется не накопитель."
    );
    let all = say!(
        "The targets are on `{what}`, in the memory of this machine: no drive is measured.",
        "Объекты находятся на `{what}`, в памяти этой машины: измеряются не накопители."
    );
    Words {
        text: if several { all } else { one },
        advice: say!(
            "Name a directory on a drive, such as /var/tmp.",
            "Укажите каталог на накопителе, например /var/tmp."
        ),
    }
}

pub(super) fn over_network(file_system: &str) -> Words {
    Words {
        text: say!(
            "The target is a network file system (`{file_system}`): the numbers include the network and the server, and direct I/O goes around the cache of this machine, not that of the server.",
            "Объект — сетевая файловая система (`{file_system}`): в числа входят сеть и сервер, а прямой ввод-вывод минует кэш этой машины, но не кэш сервера."
        ),
        advice: say!(
            "These are numbers of the whole service; to judge its drives, measure on the server, and note what else uses it.",
            "Это числа службы в целом; чтобы судить о её накопителях, измеряйте на сервере и учтите, кто ещё им пользуется."
        ),
    }
}

pub(super) fn over_fabric(device: &str, transport: &str) -> Words {
    let (device, _) = quoted(device);
    Words {
        text: say!(
            "Another host exports `{device}` (`{transport}`): the numbers include the network and that host, and its drives are not watched.",
            "`{device}` экспортирует другая машина (`{transport}`): в числа входят сеть и та машина, а за её накопителями никто не следит."
        ),
        advice: say!(
            "These are numbers of the whole service: answers from its memory look the same as answers from its drives. To judge the drives, measure on that host.",
            "Это числа службы в целом: ответы из её памяти не отличить от ответов накопителей. Чтобы судить о них, измеряйте на той машине."
        ),
    }
}

pub(super) fn storage_watched(host: &str, drives: u32) -> Words {
    Words {
        text: say!(
            "The storage host `{host}` exports the target or keeps a copy of it: the numbers include the network and that host. It was watched, drives: {drives}; checks H11, H30 and H31 count these, and H25 and H64 are about both hosts.",
            "Машина с накопителями `{host}` экспортирует объект или хранит его копию: в числа входят сеть и та машина. За ней следили, накопителей: {drives}; в H11, H30 и H31 они учтены, а H25 и H64 — об обеих машинах."
        ),
        advice: say!(
            "These are numbers of the whole service. H11 shows whether its memory answered; a separate chart shows the load on that host.",
            "Это числа службы в целом. Отвечала ли её память, видно по H11; нагрузка на ту машину — на отдельной диаграмме."
        ),
    }
}

pub(super) fn storage_unwatched(host: &str, why: &Say) -> Words {
    let Say { en, ru } = why;
    Words {
        text: say!(
            "The storage host `{host}` was not watched, or not all the time: {en}.",
            "За машиной с накопителями `{host}` не следили или следили не всё время: {ru}."
        ),
        advice: say!(
            "Cases without its counters lack some checks. Make sure that the host can be reached during the whole run, and measure again.",
            "У случаев без её счётчиков часть проверок не сделана. Обеспечьте связь с машиной на весь прогон и измерьте снова."
        ),
    }
}

pub(super) fn host_unwatched(host: &str, why: &Say) -> Words {
    let Say { en, ru } = why;
    Words {
        text: say!(
            "The host `{host}` was not watched all the time: {en}.",
            "Наблюдение за машиной `{host}` прервалось: {ru}."
        ),
        advice: say!(
            "The measured numbers are valid; what happened on that host meanwhile is unknown. Make sure that it can be reached during the whole run.",
            "Измеренные числа верны; что в это время было на той машине, неизвестно. Обеспечьте связь с ней на весь прогон."
        ),
    }
}

pub(super) fn fuse(file_system: &str) -> Words {
    Words {
        text: say!(
            "The file system (`{file_system}`) is served by a program through FUSE: each I/O goes through that program, which may cache it.",
            "Файловую систему (`{file_system}`) через FUSE обслуживает программа: каждая операция идёт через неё и может осесть в её кэше."
        ),
        advice: say!(
            "To judge the drive, measure on a file system of the kernel or on the device itself.",
            "Чтобы судить о накопителе, измеряйте на файловой системе ядра или на самом устройстве."
        ),
    }
}

pub(super) fn overlay() -> Words {
    Words {
        text: say!(
            "The target is on an overlay, as the root of a container is: I/O goes through it to the file system with its upper directory, which is what is measured.",
            "Объект находится на overlay, как корень контейнера: операции проходят сквозь него к файловой системе верхнего каталога; измеряется она."
        ),
        advice: say!(
            "Name a volume of the container (a bind mount) to measure without that layer.",
            "Чтобы измерить без этого слоя, укажите том контейнера (bind mount)."
        ),
    }
}

pub(super) fn copy_on_write(file_system: &str) -> Words {
    Words {
        text: say!(
            "`{file_system}` writes every block to a new place: random overwrites scatter the file, add metadata I/O, and change what later reads find.",
            "`{file_system}` пишет каждый блок на новое место: случайная перезапись дробит файл, добавляет операции с метаданными и меняет условия последующего чтения."
        ),
        advice: say!(
            "Compare only with runs on the same file system with the same history; to judge the drive, measure the device.",
            "Сравнивайте только с прогонами на такой же файловой системе с той же историей; чтобы судить о накопителе, измеряйте устройство."
        ),
    }
}

pub(super) fn compressed(option: &str) -> Words {
    Words {
        text: say!(
            "The file system compresses (`{option}`). Stend writes data that do not compress: real data may be faster or slower, and direct I/O may go through the page cache.",
            "Файловая система сжимает данные (`{option}`). Stend пишет несжимаемые: с настоящими может быть быстрее или медленнее, а прямой ввод-вывод может пойти через страничный кэш."
        ),
        advice: say!(
            "Switch compression off for the measured directory, or treat the numbers as the worst case of the data.",
            "Отключите сжатие для измеряемого каталога или считайте эти числа худшим случаем по данным."
        ),
    }
}

pub(super) fn encrypted(device: &str) -> Words {
    let (device, several) = quoted(device);
    let one = say!(
        "`{device}` encrypts: its CPU time and its queues are part of every latency.",
        "`{device}` шифрует: его процессорное время и очереди входят в каждую задержку."
    );
    let all = say!(
        "`{device}` encrypt: their CPU time and their queues are part of every latency.",
        "`{device}` шифруют: их процессорное время и очереди входят в каждую задержку."
    );
    Words {
        text: if several { all } else { one },
        advice: say!(
            "Right if users get it encrypted too; to judge the drive, measure it below the encryption.",
            "Это верно, если и пользователи работают с шифрованием; чтобы судить о накопителе, измеряйте его под шифрованием."
        ),
    }
}

pub(super) fn cached(device: &str, size: Bytes) -> Words {
    let text = say!(
        |l| "A cache of {s} (`{device}`) is below the target: its fast device answers for what it holds, and the rate changes while it fills, warms and writes back.",
        "Под объектом лежит кэш (`{device}`, {s}): на то, что в нём есть, отвечает быстрое устройство, и скорость меняется, пока он заполняется, прогревается и сбрасывается.",
        s = format::bytes(size, l)
    );
    Words {
        text,
        advice: say!(
            "State which one you measured: a range that fits measures the cache, a far larger one the drives behind it. Let the load run long enough to settle.",
            "Укажите, что измерено: область не больше кэша показывает кэш, намного большая — накопители за ним. Дайте нагрузке установиться."
        ),
    }
}

pub(super) fn no_storage(what: &str, cases: &[String]) -> Words {
    let some = cases.join("; ");
    let text = if cases.is_empty() {
        say!(
            "No storage took part (`{what}`): the numbers are what the engine itself can do here, not those of any storage.",
            "Хранилище не участвовало (`{what}`): числа говорят, что может здесь сам генератор нагрузки, а не хранилище."
        )
    } else {
        say!(
            "No storage took part in {some} (`{what}`): those numbers are what the engine itself can do here.",
            "Хранилище не участвовало в случаях {some} (`{what}`): эти числа говорят, что может здесь сам генератор нагрузки."
        )
    };
    Words {
        text,
        advice: say!(
            "Treat them as the ceiling of this machine; for storage name a directory or device and leave out `backend: none`.",
            "Считайте их потолком этой машины; для хранилища укажите каталог или устройство и уберите `backend: none`."
        ),
    }
}

pub(super) fn no_device() -> Words {
    Words {
        text: say!(
            "No block device was found below the target, so it is unknown whether the bytes reached a drive.",
            "Под объектом не найдено блочного устройства, поэтому нельзя сказать, дошли ли байты до накопителя."
        ),
        advice: say!(
            "To judge drives, measure a file system on a local drive or the device itself.",
            "Чтобы судить о накопителях, измеряйте файловую систему на локальном диске или само устройство."
        ),
    }
}

/// Names of devices, each quoted, and whether they are several.
fn quoted(devices: &str) -> (String, bool) {
    (devices.replace(", ", "`, `"), devices.contains(", "))
}

pub(super) fn virtual_disk(device: &str) -> Words {
    let (device, several) = quoted(device);
    let one = say!(
        "`{device}` is a virtual disk: the caches of its host and the drives behind it cannot be seen from here.",
        "`{device}` — виртуальный диск: кэш его хоста и накопители за ним отсюда не видны."
    );
    let all = say!(
        "`{device}` are virtual disks: the caches of their host and the drives behind them cannot be seen from here.",
        "`{device}` — виртуальные диски: кэш их хоста и накопители за ними отсюда не видны."
    );
    Words {
        text: if several { all } else { one },
        advice: say!(
            "These are numbers of this virtual machine today; to judge the drives, measure on the host.",
            "Это числа этой виртуальной машины на сегодня; чтобы судить о накопителях, измеряйте на хосте."
        ),
    }
}

pub(super) fn removable(device: &str) -> Words {
    let (device, several) = quoted(device);
    let one = say!(
        "`{device}` is removable or on USB: its bridge and cable may be the limit, and flash sticks slow down when they are warm or full.",
        "`{device}` — съёмный или подключён по USB: пределом могут быть мост и кабель, а флеш-накопители замедляются при нагреве и заполнении."
    );
    let all = say!(
        "`{device}` are removable or on USB: bridges and cables may be the limit, and flash sticks slow down when they are warm or full.",
        "`{device}` — съёмные или подключены по USB: пределом могут быть мосты и кабели, а флеш-накопители замедляются при нагреве и заполнении."
    );
    Words {
        text: if several { all } else { one },
        advice: say!(
            "To judge the drive, connect it inside; check that it is the drive that you meant.",
            "Чтобы судить о накопителе, подключите его внутри; проверьте, тот ли это накопитель."
        ),
    }
}

pub(super) fn nearly_full(used: Share) -> Words {
    let text = say!(
        |l| "With the test file the file system is {s} full: it has few free places for blocks, and a solid-state drive below has little room for garbage collection.",
        "С тестовым файлом файловая система заполнена на {s}: свободных мест для блоков мало, а твердотельному накопителю не хватает места для сборки мусора.",
        s = format::percent(used.0, l)
    );
    Words {
        text,
        advice: say!(
            "Free some space, or compare only with runs at the same fill level.",
            "Освободите место или сравнивайте только с прогонами при том же заполнении."
        ),
    }
}

pub(super) fn memory_sized(working_set: Bytes, memory: Bytes, direct: bool) -> Words {
    let text = Say::both(|l| {
        let (range, memory) = (format::bytes(working_set, l), format::bytes(memory, l));
        match direct {
            true => say_in!(
                l,
                "The working set is {range}, the memory {memory}. Direct I/O bypasses the page cache of this machine, but a cache of that size in a controller or a host would hold most of it. Check H11 counts the bytes that reach the drives.",
                "Рабочая область — {range}, память — {memory}. Прямой ввод-вывод минует страничный кэш этой машины, но кэш такого размера в контроллере или хосте вместил бы её бо́льшую часть. Байты, дошедшие до накопителей, считает проверка H11."
            ),
            false => say_in!(
                l,
                "The working set is {range}, the memory {memory}, and I/O goes through a cache of this machine: most reads may come from memory.",
                "Рабочая область — {range}, память — {memory}, и ввод-вывод идёт через кэш этой машины: большинство чтений может прийти из памяти."
            ),
        }
    });
    Words {
        text,
        advice: say!(
            "Set a larger `fill: {{size: …}}`: 21 times the cache keeps its part of random reads below 5 %.",
            "Задайте больший `fill: {{size: …}}`: в 21 раз больше кэша — и его доля в случайном чтении меньше 5 %."
        ),
    }
}

pub(super) fn will_write(fill: Bytes, trials: Nanos, drive: Option<&(String, Bytes)>) -> Words {
    Words {
        text: Say::both(|l| will_write_in(l, fill, trials, drive)),
        advice: say!(
            "A smaller `fill: {{size: …}}` or `--time-budget` writes less.",
            "Меньший `fill: {{size: …}}` или `--time-budget` уменьшит запись."
        ),
    }
}

fn will_write_in(lang: Lang, fill: Bytes, trials: Nanos, drive: Option<&(String, Bytes)>) -> String {
    let (size, time) = (format::bytes(fill, lang), format::duration(trials, lang));
    let mut text = match (fill > Bytes(0), trials > Nanos(0)) {
        (true, true) => say_in!(
            lang,
            "The fill writes {size}, the trials {time} at the target's rate.",
            "Заполнение запишет {size}, испытания — {time} со скоростью объекта."
        ),
        (true, false) => say_in!(lang, "The fill writes {size}.", "Заполнение запишет {size}."),
        (false, _) => say_in!(
            lang,
            "The trials write {time} at the target's rate.",
            "Испытания запишут {time} со скоростью объекта."
        ),
    };
    if let Some((name, size)) = drive.filter(|(_, size)| *size > Bytes(0) && fill > Bytes(0)) {
        let share = format::percent(fill.0 as f64 / size.0 as f64, lang);
        text += &say_in!(
            lang,
            " The fill is {share} of one full write of `{name}` ({s}); the rated endurance of the drive is not known.",
            " Заполнение — {share} одной полной записи `{name}` ({s}); паспортный ресурс накопителя неизвестен.",
            s = format::bytes(*size, lang)
        );
    }
    text
}
